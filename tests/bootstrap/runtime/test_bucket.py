"""The store in S3: put if absent, replace only what is known, whole or nothing, read by ranges."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from bootstrap.runtime.store import S3Store, Stored, StoreError

BUCKET, KEY = "data", "runtimes/abc-x86_64.tar"
PART = 5 << 20


@pytest.fixture
def client() -> Generator[Any]:
    with mock_aws():
        made = boto3.client(
            "s3", region_name="eu-west-1", aws_access_key_id="testing", aws_secret_access_key="testing"
        )
        made.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
        yield made


@pytest.fixture
def store(client: Any) -> S3Store:
    return S3Store(client, BUCKET)


def uploads(client: Any) -> int:
    return len(client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", ()))


def test_what_was_put_is_found_and_read_by_ranges(store: S3Store) -> None:
    data = bytes(range(256)) * 25_000 + b"the end"
    assert store.find(KEY) is None
    assert store.put(KEY, iter([data[:PART], data[PART:]]), None)
    found = store.find(KEY)
    assert found is not None
    assert found.size == len(data)
    assert store.read(KEY, found, 0, 10) == data[:10]
    assert store.read(KEY, found, PART - 3, 6) == data[PART - 3 : PART + 3]
    assert store.read(KEY, found, len(data) - 7, 7) == b"the end"


def test_the_second_one_to_put_leaves_the_first_one_s(store: S3Store, client: Any) -> None:
    assert store.put(KEY, iter([b"first"]), None)
    assert not store.put(KEY, iter([b"second"]), None)
    found = store.find(KEY)
    assert found is not None
    assert store.read(KEY, found, 0, 5) == b"first"
    assert uploads(client) == 0


def test_a_bad_one_is_replaced_only_while_it_is_still_that_one(store: S3Store, client: Any) -> None:
    """moto doesn't look at If-Match here; S3 does."""
    store.put(KEY, iter([b"bad one"]), None)
    bad, asked = store.find(KEY), list[dict[str, str]]()
    assert bad is not None
    client.meta.events.register(
        "before-call.s3.CompleteMultipartUpload", lambda params, **_: asked.append(params["headers"])
    )
    assert store.put(KEY, iter([b"good"]), bad)
    assert asked[0]["If-Match"] == bad.version
    assert "If-None-Match" not in asked[0]


@pytest.mark.parametrize("code", ["PreconditionFailed", "ConditionalRequestConflict"])
def test_who_comes_second_is_told_so_and_leaves_no_parts(
    store: S3Store, client: Any, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    def lose(**_: object) -> None:
        raise ClientError({"Error": {"Code": code, "Message": "no"}}, "CompleteMultipartUpload")

    monkeypatch.setattr(client, "complete_multipart_upload", lose)
    assert not store.put(KEY, iter([b"x"]), Stored(1, "v"))
    assert uploads(client) == 0


def test_what_changed_since_it_was_found_is_not_read(store: S3Store, client: Any) -> None:
    store.put(KEY, iter([b"old one"]), None)
    found = store.find(KEY)
    assert found is not None
    client.put_object(Bucket=BUCKET, Key=KEY, Body=b"new one")
    with pytest.raises(StoreError, match="PreconditionFailed"):
        store.read(KEY, found, 0, 3)


def test_a_pack_that_breaks_off_leaves_nothing(store: S3Store, client: Any) -> None:
    def breaking() -> Iterator[bytes]:
        yield b"x" * PART
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.put(KEY, breaking(), None)
    assert store.find(KEY) is None
    assert uploads(client) == 0


def test_a_longer_key_is_another_one(store: S3Store) -> None:
    store.put(f"{KEY}.old", iter([b"x"]), None)
    assert store.find(KEY) is None


def test_a_refusal_says_what_was_asked(client: Any) -> None:
    with pytest.raises(StoreError, match=r"list_objects_v2 of runtimes/abc.*NoSuchBucket"):
        S3Store(client, "elsewhere").find(KEY)
    with pytest.raises(StoreError, match="create_multipart_upload of runtimes/abc"):
        S3Store(client, "elsewhere").put(KEY, iter([b"x"]), Stored(1, "v"))


def test_the_checksum_of_each_part_is_given_again_at_the_end(
    store: S3Store, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, put = list[Any](), client.upload_part
    monkeypatch.setattr(client, "upload_part", lambda **given: {**put(**given), "ChecksumCRC32": "abc="})
    monkeypatch.setattr(client, "complete_multipart_upload", lambda **given: sent.append(given))
    assert store.put(KEY, iter([b"x" * PART, b"y"]), None)
    parts = sent[0]["MultipartUpload"]["Parts"]
    assert [(each["PartNumber"], each["ChecksumCRC32"]) for each in parts] == [(1, "abc="), (2, "abc=")]
