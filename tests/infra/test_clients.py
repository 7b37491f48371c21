"""The clients ask the account that the provider will change, and say in words when they can't."""

from __future__ import annotations

from pathlib import Path

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError
from botocore.parsers import ResponseParserError

from infra.clients import AwsSettings, CannotReadAws, Clients, aws_settings, explain


@pytest.mark.parametrize(
    "endpoints",
    ['[{"ec2": "http://127.0.0.1:1"}, {"s3": "http://127.0.0.1:2"}]', '{"ec2": "http://127.0.0.1:1"}'],
)
def test_endpoints_may_be_a_list_of_maps_or_one_map(endpoints: str) -> None:
    settings = aws_settings({"endpoints": endpoints}.get, "us-east-1")
    assert Clients(settings)("ec2").meta.endpoint_url == "http://127.0.0.1:1"


def test_the_environments_endpoint_is_used_like_the_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:3")
    assert Clients(AwsSettings("us-east-1"))("sts").meta.endpoint_url == "http://127.0.0.1:3"


def test_the_files_region_and_keys_decide_who_is_asked() -> None:
    config = {"accessKey": "AKIA", "secretKey": "hush", "token": "short", "s3UsePathStyle": "true"}
    client = Clients(aws_settings(config.get, "eu-west-1"))("s3")
    assert client.meta.region_name == "eu-west-1"
    assert client._request_signer._credentials.access_key == "AKIA"
    assert client.meta.config.s3 == {"addressing_style": "path"}


def test_keys_never_show() -> None:
    settings = aws_settings({"accessKey": "AKIA", "secretKey": "hush", "token": "short"}.get, "eu-west-1")
    assert not any(secret in repr(settings) for secret in ("AKIA", "hush", "short"))


def test_a_role_to_assume_is_refused_since_another_account_would_be_read() -> None:
    with pytest.raises(CannotReadAws, match="role_arn and source_profile"):
        aws_settings({"assumeRoles": '[{"roleArn": "arn:aws:iam::1:role/x"}]'}.get, "us-east-1")


def test_an_unknown_profile_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(CannotReadAws, match="aws:profile: The config profile \\(lab\\) could not be found"):
        Clients(AwsSettings("us-east-1", profile="lab"))


@pytest.mark.parametrize("raw", ["garbage", "[1]", '"http://x"', "[[]]", "7"])
def test_endpoints_that_are_none_are_told(raw: str) -> None:
    with pytest.raises(CannotReadAws, match="aws:endpoints: given"):
        aws_settings({"endpoints": raw}.get, "us-east-1")


def test_an_endpoint_that_is_no_url_is_told() -> None:
    clients = Clients(aws_settings({"endpoints": '[{"ec2": "garbage"}]'}.get, "us-east-1"))
    with pytest.raises(CannotReadAws, match="Invalid endpoint: garbage; write a whole URL"):
        clients("ec2")


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "No.\nNever."}}, "DescribeVpcs")


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (NoCredentialsError(), "run `aws sso login` or `aws configure`"),
        (EndpointConnectionError(endpoint_url="https://sts.us-east-1.amazonaws.com"), "check the network"),
        (refused("ExpiredToken"), "log in again"),
        (refused("SignatureDoesNotMatch"), "this machine's clock"),
        (refused("Throttling"), "wait a minute"),
        (refused("OptInRequired"), "enable the region"),
        (ResponseParserError("<html>\nsign in to the hotel's network"), "check the network"),
        (refused("UnauthorizedOperation"), "give the caller the right to call it"),
    ],
)
def test_each_failure_says_that_nothing_was_changed_and_what_to_do(error: ClientError, advice: str) -> None:
    said = explain(error)
    assert "nothing was changed" in said
    assert advice in said
    assert "\n" not in said
