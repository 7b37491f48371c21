"""Every way in which AWS can't be asked or says no becomes words, none a traceback."""

from __future__ import annotations

from typing import Any

import botocore.exceptions as sdk
import pytest

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
