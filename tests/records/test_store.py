"""Records in S3, against moto in process."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto import mock_aws

from nightshift.records.errors import ChangedMeanwhile, NoBucket, Unreadable
from nightshift.records.model import LONGEST, OverrideRecord, ReadinessRecord, RunRecord
from nightshift.records.store import Records, override_key, readiness_key, run_key

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
HELD = OverrideRecord("down", NOON + timedelta(days=6), "arn:aws:iam::123456789012:user/ana", NOON)
WOKEN = OverrideRecord("up", NOON + timedelta(hours=3), "arn:aws:iam::123456789012:user/ben", NOON)
BUCKET = "nightshift-lab-data-0a1b2c3d"


@pytest.fixture(name="s3")
def _s3() -> Iterator[Any]:
    with mock_aws():
        yield boto3.client("s3", "us-east-1", aws_access_key_id="a", aws_secret_access_key="b")


@pytest.fixture(name="records")
def _records(s3: Any) -> Records:
    s3.create_bucket(Bucket=BUCKET)
    return Records(s3, BUCKET)


def test_a_missing_bucket_reads_as_nothing_and_refuses_writes_in_words(s3: Any) -> None:
    records = Records(s3, BUCKET)
    assert (records.override("vit").record, records.run("vit"), records.readiness({"i-1"})) == (
        None,
        None,
        {},
    )
    with pytest.raises(NoBucket, match="isn't deployed"):
        records.write_override("vit", HELD, None)


def test_an_override_is_written_read_and_deleted(records: Records) -> None:
    etag = records.write_override("vit", HELD, None)
    assert records.override("vit").record == HELD
    assert records.override("vit").etag == etag
    assert records.override("desk").record is None
    records.delete_override("vit", etag)
    assert records.override("vit").record is None


def test_two_operators_never_overwrite_unseen(records: Records) -> None:
    first = records.write_override("vit", HELD, None)
    with pytest.raises(ChangedMeanwhile):
        records.write_override("vit", WOKEN, None)
    second = records.write_override("vit", WOKEN, first)
    with pytest.raises(ChangedMeanwhile):
        records.write_override("vit", HELD, first)
    with pytest.raises(ChangedMeanwhile):
        records.delete_override("vit", first)
    assert records.override("vit").record == WOKEN
    assert second != first


def test_a_record_deleted_in_between_is_a_change_too_but_deleting_twice_is_fine(records: Records) -> None:
    etag = records.write_override("vit", HELD, None)
    records.delete_override("vit", etag)
    records.delete_override("vit", etag)
    records.delete_override("vit", None)
    with pytest.raises(ChangedMeanwhile):
        records.write_override("vit", WOKEN, etag)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "no JSON object"),
        (b"{}", "version None"),
        (b'{"version": 2}', "version 2"),
        (b'{"version": true}', "version True"),
        (b'{"version": 1}', "state is None"),
        (b'{"version": 1, "state": "sideways"}', "neither up nor down"),
        (b'{"version": 1, "state": "up", "until": "tomorrow"}', "no instant such as"),
        (b'{"version": 1, "state": "up", "until": 5}', "until is 5"),
        (b'{"version": 1, "state": "up", "until": "2026-12-07T11:00:00Z"}', "by is None"),
    ],
)
def test_what_is_no_override_is_refused_in_words(s3: Any, records: Records, body: bytes, said: str) -> None:
    s3.put_object(Bucket=BUCKET, Key=override_key("vit"), Body=body)
    with pytest.raises(Unreadable, match=said) as refused:
        records.override("vit")
    assert f"s3://{BUCKET}/overrides/vit.json" in str(refused.value)
    etag = records.override_etag("vit")
    assert etag
    records.write_override("vit", HELD, etag)
    assert records.override("vit").record == HELD


def test_readiness_is_found_by_instance_id_among_the_records_of_dead_nodes(s3: Any, records: Records) -> None:
    verdict = ReadinessRecord("i-0abc", "vit", False, "driver", "no /dev/nvidia0", NOON)
    records.write_readiness("AROAEXAMPLE:i-0abc", verdict)
    records.write_readiness("AROAEXAMPLE:i-0old", verdict)
    assert records.readiness({"i-0abc", "i-0new"}) == {"i-0abc": verdict}
    s3.put_object(Bucket=BUCKET, Key=readiness_key("AROAEXAMPLE:i-0new"), Body=b"{}")
    both = records.readiness({"i-0abc", "i-0new"})
    assert both["i-0abc"] == verdict
    assert isinstance(both["i-0new"], Unreadable)
    assert readiness_key("AROA:i-1") == "nodes/AROA:i-1/readiness.json"


def test_the_last_checkpoint_of_a_group_is_kept(records: Records) -> None:
    run = RunRecord("vit", 48_200, "/data/runs/vit/step-48200", False, NOON)
    records.write_run("vit", run)
    assert records.run("vit") == run
    assert run_key("vit") == "runs/vit/latest.json"


@pytest.mark.parametrize(
    ("body", "said"),
    [(b'{"version":1,"group":"vit","step":-1}', "step is -1"), (b'{"version":1,"group":7}', "group is 7")],
)
def test_a_damaged_run_record_is_refused(s3: Any, records: Records, body: bytes, said: str) -> None:
    s3.put_object(Bucket=BUCKET, Key=run_key("vit"), Body=body)
    with pytest.raises(Unreadable, match=said):
        records.run("vit")


_instants = st.datetimes(datetime(2020, 1, 1), datetime(2099, 1, 1), timezones=st.sampled_from([UTC])).map(
    lambda at: at.replace(microsecond=0)
)


@given(
    st.sampled_from(["up", "down"]),
    st.timedeltas(-LONGEST, LONGEST).map(lambda span: timedelta(span.days, span.seconds)),
    st.text(max_size=80),
    _instants,
)
def test_any_override_survives_the_way_through_json(
    state: Any, ahead: timedelta, by: str, at: datetime
) -> None:
    until = at + ahead
    record = OverrideRecord(state, until, by, at)
    assert OverrideRecord.load("here", record.dump()) == record
    assert record.in_force(until - timedelta(seconds=1))
    assert not record.in_force(until)
