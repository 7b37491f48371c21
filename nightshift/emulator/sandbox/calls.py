"""Which call of AWS an HTTP request is: `ec2.AttachVolume`, `s3.GetObject:groups/vit/manifest.json`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qs, unquote, urlsplit

_SCOPE = re.compile(r"Credential=[^/]+/\d{8}/[^/]*/([^/]+)/aws4_request")
_ACTION = re.compile(rb"(?:^|&)Action=([A-Za-z0-9]+)")
_RPC = re.compile(r"/service/[^/]+/operation/(\w+)")
_OBJECTS = {"GET": "GetObject", "PUT": "PutObject", "HEAD": "HeadObject", "DELETE": "DeleteObject"}
_BUCKETS = {"GET": "ListObjectsV2", "PUT": "CreateBucket", "HEAD": "HeadBucket", "DELETE": "DeleteBucket"}


def step_of(method: str, target: str, headers: Mapping[str, str], body: bytes) -> str:
    """Service, operation and, for an object, its key. `unsigned.METHOD` for what nobody signed."""
    scope = _SCOPE.search(headers.get("Authorization", ""))
    if scope is None:
        return f"unsigned.{method}"
    service = scope.group(1)
    return f"s3.{_s3(method, target)}" if service == "s3" else f"{service}.{_named(target, headers, body)}"


def _named(target: str, headers: Mapping[str, str], body: bytes) -> str:
    rpc = _RPC.search(urlsplit(target).path)
    if rpc is not None:
        return rpc.group(1)
    named = headers.get("X-Amz-Target", "").rpartition(".")[2]
    if named:
        return named
    action = _ACTION.search(body)
    return action.group(1).decode() if action else "unknown"


def _s3(method: str, target: str) -> str:
    parts = urlsplit(target)
    key = unquote(parts.path.lstrip("/").partition("/")[2])
    asked = parse_qs(parts.query, keep_blank_values=True)
    if "uploads" in asked:
        return f"CreateMultipartUpload:{key}"
    if "uploadId" in asked:
        return f"{'UploadPart' if method == 'PUT' else 'CompleteMultipartUpload'}:{key}"
    return f"{_OBJECTS.get(method, method)}:{key}" if key else _BUCKETS.get(method, method)
