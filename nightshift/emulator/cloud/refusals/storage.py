"""Refusals of S3 buckets and objects, and of SNS."""

from __future__ import annotations

import ipaddress
import re

from nightshift.emulator.cloud.call import Call
from nightshift.emulator.cloud.refusals.row import API, Row

NAMES = "docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html"
PREFIXES = ("xn--", "sthree-", "amzn-s3-demo-")
SUFFIXES = ("-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3")
PROTOCOLS = frozenset(
    {"http", "https", "email", "email-json", "sms", "sqs", "application", "lambda", "firehose"}
)


def bucket_name_is_good(name: str) -> bool:
    """The naming rules of general purpose buckets."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", name) or ".." in name:
        return False
    if name.startswith(PREFIXES) or name.endswith(SUFFIXES):
        return False
    try:
        ipaddress.IPv4Address(name)
    except ValueError:
        return True
    return False


def _bucket(call: Call) -> str | None:
    return None if bucket_name_is_good(call.params["Bucket"]) else "The specified bucket is not valid."


def _protocol(call: Call) -> str | None:
    given = call.params["Protocol"]
    return (
        None if given in PROTOCOLS else f"Invalid parameter: Does not support this protocol string: {given}"
    )


def _endpoint(call: Call) -> str | None:
    given, endpoint = call.params["Protocol"], call.params.get("Endpoint") or ""
    if given == "email" and not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", endpoint):
        return f"Invalid parameter: Email address {endpoint}"
    return None


ROWS = (
    Row("s3-bucket-name", "s3", ("CreateBucket",), "InvalidBucketName", _bucket, NAMES),
    Row("sns-protocol", "sns", ("Subscribe",), "InvalidParameter", _protocol, f"{API} Subscribe, Protocol"),
    Row("sns-email", "sns", ("Subscribe",), "InvalidParameter", _endpoint, f"{API} Subscribe, Endpoint"),
)
