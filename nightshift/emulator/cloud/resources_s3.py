"""Which S3 actions an S3 operation needs, on which bucket or object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from nightshift.emulator.cloud.call import Call

S3Need = tuple[str, str, Mapping[str, Sequence[str]]]

# Operation -> action where the names differ (Service Authorization Reference, Amazon S3, read 2026-11).
ACTIONS = {
    "HeadObject": "GetObject",
    "SelectObjectContent": "GetObject",
    "ListObjects": "ListBucket",
    "ListObjectsV2": "ListBucket",
    "HeadBucket": "ListBucket",
    "ListObjectVersions": "ListBucketVersions",
    "ListMultipartUploads": "ListBucketMultipartUploads",
    "ListParts": "ListMultipartUploadParts",
    "CreateMultipartUpload": "PutObject",
    "UploadPart": "PutObject",
    "CompleteMultipartUpload": "PutObject",
    "ListBuckets": "ListAllMyBuckets",
    "PutBucketEncryption": "PutEncryptionConfiguration",
    "GetBucketEncryption": "GetEncryptionConfiguration",
    "PutPublicAccessBlock": "PutBucketPublicAccessBlock",
    "GetPublicAccessBlock": "GetBucketPublicAccessBlock",
    "PutBucketLifecycleConfiguration": "PutLifecycleConfiguration",
    "GetBucketLifecycleConfiguration": "GetLifecycleConfiguration",
}
VERSIONED = {"GetObject": "GetObjectVersion", "DeleteObject": "DeleteObjectVersion"}


def _arn(bucket: str, key: str | None) -> str:
    return f"arn:aws:s3:::{bucket}/{key}" if key is not None else f"arn:aws:s3:::{bucket}"


def _listing(call: Call) -> dict[str, Sequence[str]]:
    context: dict[str, Sequence[str]] = {}
    for member, name in (("Prefix", "s3:prefix"), ("Delimiter", "s3:delimiter")):
        if call.params.get(member) is not None:
            context[name] = [call.params[member]]
    return context


def _writing(params: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    context: dict[str, Sequence[str]] = {}
    names = {
        "ServerSideEncryption": "s3:x-amz-server-side-encryption",
        "IfNoneMatch": "s3:if-none-match",
        "IfMatch": "s3:if-match",
        "StorageClass": "s3:x-amz-storage-class",
    }
    for member, name in names.items():
        if params.get(member) is not None:
            context[name] = [str(params[member])]
    return context


def _source(copy_source: object) -> tuple[str, str]:
    text = copy_source if isinstance(copy_source, str) else ""
    if isinstance(copy_source, Mapping):
        return str(copy_source["Bucket"]), str(copy_source["Key"])
    bucket, _, key = unquote(text).lstrip("/").partition("/")
    return bucket, key.split("?versionId=")[0]


def s3_needs(call: Call) -> list[S3Need]:
    """Action, ARN and condition keys of everything that an S3 call touches."""
    bucket, key = call.params.get("Bucket"), call.params.get("Key")
    if call.name == "ListBuckets":
        return [("s3:ListAllMyBuckets", "*", {})]
    if not bucket:
        return [(f"s3:{call.name or 'Unknown'}", "*", {})]
    if call.name == "DeleteObjects":
        rows = (call.params.get("Delete") or {}).get("Objects") or []
        return [("s3:DeleteObject", _arn(bucket, row["Key"]), {}) for row in rows]
    if call.name in {"CopyObject", "UploadPartCopy"}:
        source = _source(call.params.get("CopySource"))
        return [
            ("s3:GetObject", _arn(*source), {}),
            ("s3:PutObject", _arn(bucket, key), _writing(call.params)),
        ]
    action = ACTIONS.get(call.name, call.name or "Unknown")
    if call.params.get("VersionId"):
        action = VERSIONED.get(action, action)
    return [(f"s3:{action}", _arn(bucket, key), _listing(call) | _writing(call.params))]
