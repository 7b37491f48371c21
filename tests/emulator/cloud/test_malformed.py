"""Requests that no client should send: an answer, never a broken connection."""

from __future__ import annotations

import io
from typing import Any

import pytest

from nightshift.emulator.cloud.call import read_call

BUDGETS = "Credential=t/20261201/us-east-1/budgets/aws4_request, SignedHeaders=host, Signature=x"


@pytest.mark.parametrize("body", [b"null", b"{}", b""])
def test_a_body_without_parameters_is_a_call_without_parameters(body: bytes) -> None:
    environ: dict[str, Any] = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "1",
        "wsgi.url_scheme": "http",
        "HTTP_AUTHORIZATION": f"AWS4-HMAC-SHA256 {BUDGETS}",
        "HTTP_X_AMZ_TARGET": "AWSBudgetServiceGateway.DescribeBudget",
        "CONTENT_TYPE": "application/x-amz-json-1.1",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
    }
    assert read_call(environ, body).params == {}
