"""The board in a bucket: who may write what, and how old things are."""

from __future__ import annotations

import datetime
import io
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from bootstrap.launch.board import Conflict, S3Board, Unreachable
from bootstrap.launch.lease import Lease, Member
from nightshift.emulator.cloud.process import start_cloud

LEASE = Lease("i-a", "1", "run", 5, "gathering")
NODE = Member("i-a", "1", "run", "10.0.0.1")


class Events:
    def unregister(self, *_: object) -> None:
        """As botocore's."""


class Meta:
    events = Events()


class FakeS3:
    """Answers `get_object` as told."""

    meta = Meta()

    def __init__(self, answer: dict[str, Any] | Exception) -> None:
        self._answer = answer

    def get_object(self, **_: object) -> dict[str, Any]:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    def put_object(self, **_: object) -> dict[str, Any]:
        return self.get_object()


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": ""}}, "GetObject")


def answered(body: bytes) -> dict[str, Any]:
    written = datetime.datetime(2026, 12, 1, 2, 0, 0, tzinfo=datetime.UTC)
    headers = {"date": "Tue, 01 Dec 2026 02:00:07 GMT"}
    return {
        "Body": io.BytesIO(body),
        "ETag": '"x"',
        "LastModified": written,
        "ResponseMetadata": {"HTTPHeaders": headers},
    }


def test_age_is_told_by_the_buckets_own_clock() -> None:
    seen = S3Board(FakeS3(answered(b"{}")), "data", "vit").lease()
    assert (seen.lease, seen.etag, seen.age_s) == (None, '"x"', 7.0)


@pytest.mark.parametrize("code", ["NoSuchKey", "AccessDenied"])
def test_a_lease_that_isnt_there_is_403_for_a_node_and_none(code: str) -> None:
    assert S3Board(FakeS3(refused(code)), "data", "vit").lease().etag is None


@pytest.mark.parametrize("error", [refused("SlowDown"), ReadTimeoutError(endpoint_url="s3")])
def test_silence_is_no_answer(error: Exception) -> None:
    board = S3Board(FakeS3(error), "data", "vit")
    with pytest.raises(Unreachable):
        board.lease()
    with pytest.raises(Unreachable):
        board.write_member(NODE)


@pytest.mark.parametrize("code", ["PreconditionFailed", "ConditionalRequestConflict", "NoSuchKey"])
def test_a_write_over_what_has_changed_is_a_conflict(code: str) -> None:
    with pytest.raises(Conflict):
        S3Board(FakeS3(refused(code)), "data", "vit").write_lease(LEASE, "x")


@pytest.mark.node
def test_conditional_writes_on_a_real_server() -> None:
    with start_cloud(plain=True) as cloud:
        client = boto3.client(
            "s3",
            endpoint_url=cloud.endpoint,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        client.create_bucket(Bucket="data")
        board = S3Board(client, "data", "vit")
        assert board.lease().etag is None
        etag = board.write_lease(LEASE, None)
        with pytest.raises(Conflict):
            board.write_lease(LEASE, None)
        taken = board.write_lease(Lease("i-b", "1", "run", 6, "gathering"), etag)
        with pytest.raises(Conflict):
            board.write_lease(LEASE, etag)
        renewed = board.write_lease(Lease("i-b", "1", "run", 6, "gathering"), taken)
        assert renewed == taken
        board.write_member(NODE)
        found = board.members()
        assert [each.member for each in found] == [NODE]
        board._known.clear()
        client.put_object(Bucket="data", Key="groups/vit/members/i-z.json", Body=b"no record")
        assert [each.member for each in board.members()] == [NODE]
        assert 0 <= found[0].age_s < 5
