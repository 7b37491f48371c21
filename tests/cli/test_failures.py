"""Every way in which AWS can't be asked or says no becomes words, none a traceback."""

from __future__ import annotations

from typing import Any

import boto3
import botocore.exceptions as sdk
import pytest
from botocore.credentials import AssumeRoleCredentialFetcher, Credentials, ProcessProvider

from nightshift.cli.aws import Aws
from nightshift.cli.errors import AwsError
from nightshift.cli.failures import from_aws

_UNASKED: list[tuple[Exception, str]] = [
    (sdk.NoCredentialsError(), "no AWS credentials"),
    (sdk.PartialCredentialsError(provider="env", cred_var="key"), "no AWS credentials"),
    (sdk.CredentialRetrievalError(provider="sso", error_msg="x"), "no AWS credentials"),
    (sdk.UnauthorizedSSOTokenError(), "aws sso login"),
    (sdk.SSOTokenLoadError(error_msg="x"), "aws sso login"),
    (sdk.TokenRetrievalError(provider="sso", error_msg="x"), "aws sso login"),
    (sdk.ProfileNotFound(profile="lab"), "profile can't be used"),
    (sdk.ConfigParseError(path="~/.aws/config", error="x"), "profile can't be used"),
    (sdk.NoRegionError(), "aws:region"),
    (sdk.InvalidRegionError(region_name="us_east"), "aws:region"),
    (sdk.EndpointConnectionError(endpoint_url="https://x"), "can't be reached"),
    (sdk.ConnectTimeoutError(endpoint_url="https://x"), "can't be reached"),
    (sdk.ReadTimeoutError(endpoint_url="https://x"), "can't be reached"),
    (sdk.ConnectionClosedError(endpoint_url="https://x"), "can't be reached"),
    (sdk.ProxyConnectionError(proxy_url="http://x", error="y"), "can't be reached"),
    (sdk.SSLError(endpoint_url="https://x", error=OSError("y")), "can't be reached"),
    (sdk.DataNotFoundError(data_path="x"), "gave up"),
]
_REFUSED = [
    ("Throttling", "fewer calls"),
    ("RequestLimitExceeded", "fewer calls"),
    ("SlowDown", "fewer calls"),
    ("ExpiredToken", "run out"),
    ("InvalidClientTokenId", "doesn't accept"),
    ("AuthFailure", "doesn't accept"),
    ("SignatureDoesNotMatch", "doesn't accept"),
    ("AccessDenied", "may not do this"),
    ("UnauthorizedOperation", "may not do this"),
    ("RequestTimeTooSkewed", "clock is wrong"),
    ("OptInRequired", "isn't signed up"),
    ("SomethingNew", "AWS refused"),
]


@pytest.mark.parametrize(("error", "said"), _UNASKED, ids=lambda value: type(value).__name__)
def test_a_failure_before_aws_answers_says_what_to_do(error: Exception, said: str) -> None:
    known = from_aws(error)
    assert known is not None
    assert said in known.lines[0]
    assert known.code == 1


@pytest.mark.parametrize(("code", "said"), _REFUSED)
def test_a_refusal_says_what_to_do_and_keeps_awss_own_words(code: str, said: str) -> None:
    response: Any = {"Error": {"Code": code, "Message": "its words"}}
    known = from_aws(sdk.ClientError(response, "DescribeVolumes"))
    assert known is not None
    assert said in known.lines[0]
    assert known.lines[1] == f"DescribeVolumes: {code}: its words"


def test_what_isnt_the_sdks_is_left_alone() -> None:
    assert from_aws(ValueError("a bug")) is None


class _Printing:
    """A credential_process that prints this."""

    returncode = 0

    def __init__(self, printed: bytes) -> None:
        self._printed = printed

    def communicate(self) -> tuple[bytes, bytes]:
        return self._printed, b""


@pytest.mark.parametrize("printed", [b"not json", b"", b"[1]", b"3", b"\xff", b'"text"'])
def test_a_credential_process_that_prints_something_else_is_named(printed: bytes) -> None:
    profiles = {"profiles": {"lab": {"credential_process": "program"}}}
    asked: Any = ProcessProvider("lab", lambda: profiles, popen=lambda *_, **__: _Printing(printed))
    with pytest.raises((ValueError, AttributeError)) as failed:
        asked.load()
    known = from_aws(failed.value)
    assert known is not None
    assert "credential_process" in known.lines[0]
    assert "AWS_ENDPOINT_URL" not in str(known)


def test_a_profile_that_wants_a_code_where_nobody_is_says_so() -> None:
    def nobody(_: str) -> str:
        raise EOFError

    fetcher: Any = AssumeRoleCredentialFetcher(
        lambda *_, **__: boto3.client("sts", "us-east-1"),
        Credentials("a", "b"),
        "arn:aws:iam::123456789012:role/x",
        extra_args={"SerialNumber": "arn:aws:iam::123456789012:mfa/u"},
        mfa_prompter=nobody,
    )
    with pytest.raises(EOFError) as failed:
        fetcher.fetch_credentials()
    known = from_aws(failed.value)
    assert known is not None
    assert "MFA code (mfa_serial)" in known.lines[0]
    assert from_aws(EOFError()) is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("http://127.0.0.1:99999", "whose port is no number"),
        ("http://127.0.0.1:0", "whose port is no number"),
        ("http://127.0.0.1:abc", "whose port is no number"),
        ("http://127.0.0.1:80:80", "whose port is no number"),
        ("http://[::1", "whose brackets"),
        ("http://:80", "which names no host"),
        ("127.0.0.1:5000", "begins with http://"),
        ("garbage", "begins with http://"),
        ("ftp://127.0.0.1", "begins with http://"),
        ("http://127.0.0.1:5000 ", "no spaces"),
        ("http://127.0.0.1:5000\n", "no spaces"),
    ],
)
@pytest.mark.parametrize("variable", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_EC2"])
def test_an_endpoint_that_is_no_url_is_told_by_its_variable(variable: str, given: str, says: str) -> None:
    with pytest.raises(AwsError, match=says) as refused:
        Aws("us-east-1", None, {variable: given})
    assert f"{variable}: given {given!r}" in refused.value.lines[0]


@pytest.mark.parametrize(
    "given",
    [
        "http://user:s3cret@127.0.0.1:99999",
        "http://user:s3cret@127.0.0.1:x",
        "http://user:s3cret/s3cret@s3cret@127.0.0.1",
        "ftp://user:s3cret@127.0.0.1",
        "http://user:s3cret@",
        "http://user:s3cret @127.0.0.1",
        "user:s3cret@127.0.0.1",
    ],
)
def test_a_password_in_an_endpoint_is_never_told(given: str) -> None:
    with pytest.raises(AwsError) as refused:
        Aws("us-east-1", None, {"AWS_ENDPOINT_URL": given})
    assert "s3cret" not in str(refused.value)
    known = from_aws(sdk.EndpointConnectionError(endpoint_url="http://user:s3cret@127.0.0.1:9/"))
    assert known is not None
    assert known.lines[1].endswith('"http://***@127.0.0.1:9/"')


def test_sound_endpoints_and_ignored_ones_are_taken() -> None:
    for url in ("http://127.0.0.1:5000", "https://[::1]:5000/x", "http://localhost", ""):
        assert Aws("us-east-1", None, {"AWS_ENDPOINT_URL": url}).region == "us-east-1"
    ignored = {"AWS_ENDPOINT_URL_S3": "garbage", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"}
    assert Aws("us-east-1", None, ignored).region == "us-east-1"


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999", "garbage", "http://user:s3cret@127.0.0.1:x"])
def test_an_address_in_the_sdks_own_files_that_is_no_url_is_told(url: str) -> None:
    client: Any = boto3.client
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
    with pytest.raises(ValueError, match=r"(?i)endpoint|port") as failed:
        client("sts", "us-east-1", endpoint_url=url, **keys).get_caller_identity()
    known = from_aws(failed.value)
    assert known is not None
    assert "endpoint_url in ~/.aws/config" in known.lines[0]
    assert "s3cret" not in str(known)
