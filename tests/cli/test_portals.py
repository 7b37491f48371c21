"""A web page where AWS should have answered is told as one, by every protocol of the SDK."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.awsrequest import AWSResponse, HeadersDict
from botocore.parsers import ResponseParserError

from nightshift.cli.aws import Aws
from nightshift.cli.failures import from_aws

KEYS = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
PAGE = b"<!DOCTYPE html><html><body><p>Please log in</p></body></html>"
CALLS = [
    ("ssm", "describe_instance_information", {}),
    ("logs", "filter_log_events", {"logGroupName": "/nightshift/lab"}),
    ("autoscaling", "describe_auto_scaling_groups", {}),
    ("sts", "get_caller_identity", {}),
    ("ec2", "describe_volumes", {}),
]


class _Raw:
    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self) -> Any:
        yield self._body


def _answering(service: str, body: bytes, kind: str) -> Any:
    client = Aws("us-east-1", None, KEYS).client(service)

    def answer(request: Any, **_: Any) -> AWSResponse:
        headers: Any = HeadersDict({"Content-Type": kind})
        return AWSResponse(request.url, 200, headers, _Raw(body))

    client.meta.events.register("before-send", answer)
    return client


@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "application/json"])
@pytest.mark.parametrize(("service", "call", "words"), CALLS)
def test_a_page_is_told_as_one(service: str, call: str, words: dict[str, str], kind: str) -> None:
    client = _answering(service, PAGE, kind)
    with pytest.raises(ResponseParserError, match="a web page came") as caught:
        getattr(client, call)(**words)
    known = from_aws(caught.value)
    assert known is not None
    assert "a web page came instead of AWS's answer" in str(known)


@pytest.mark.parametrize("kind", ["application/x-amz-json-1.1", "text/html"])
def test_an_answer_stays_an_answer_whatever_its_header_says(kind: str) -> None:
    body = b'{"InstanceInformationList": []}'
    found = _answering("ssm", body, kind).describe_instance_information()
    assert found["InstanceInformationList"] == []
    lines = b'{"events": [{"message": "<html>"}]}'
    assert _answering("logs", lines, kind).filter_log_events(logGroupName="x")["events"]
