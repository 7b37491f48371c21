"""What nodes write of themselves: drains and hours; and how they read what they may list by prefix only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto import mock_aws

from nightshift.records.drain import DrainRecord, DrainStep
from nightshift.records.errors import Unreadable
from nightshift.records.hours import HoursRecord
from nightshift.records.model import RunRecord
from nightshift.records.store import Records, drain_key

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
BUCKET = "nightshift-lab-data-0a1b2c3d"
INSTANTS = st.datetimes(datetime(2020, 1, 1), datetime(2100, 1, 1)).map(
    lambda at: at.replace(microsecond=0, tzinfo=UTC)
)
SECONDS = st.floats(0, 1e6).map(lambda value: round(value, 3))
STEPS = st.builds(DrainStep, st.text(), SECONDS, st.booleans(), st.text())
DRAINS = st.builds(
    DrainRecord,
    node=st.text(),
    group=st.text(),
    kind=st.text(),
    reason=st.text(),
    began=INSTANTS,
    seconds=SECONDS,
    budget_s=SECONDS,
    saved=st.sampled_from([True, False, None]),
    steps=st.lists(STEPS).map(tuple),
)


@pytest.fixture(name="s3")
def _s3() -> Iterator[Any]:
    with mock_aws():
        client = boto3.client("s3", "us-east-1", aws_access_key_id="a", aws_secret_access_key="b")
        client.create_bucket(Bucket=BUCKET)
        yield client


def hours(node: str, until: int, gpus: float = 8) -> HoursRecord:
    return HoursRecord(node, gpus, NOON, NOON + timedelta(hours=until))


@given(DRAINS)
def test_a_drain_comes_back_as_it_was_written(record: DrainRecord) -> None:
    assert DrainRecord.load("x", record.dump()) == record


@given(st.text(), st.floats(0, 1e4), INSTANTS, st.timedeltas(timedelta(0), timedelta(days=40)))
def test_hours_come_back_as_they_were_written(node: str, gpus: float, at: datetime, took: timedelta) -> None:
    record = HoursRecord(node, gpus, at, at + timedelta(seconds=int(took.total_seconds())))
    assert HoursRecord.load("x", record.dump()) == record


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"gpus": "eight"}, "field gpus is 'eight', no number of 0 or more"),
        ({"gpus": True}, "no number"),
        ({"gpus": -1}, "no number"),
        ({"until": "2026-11-30T00:00:00Z"}, "ends before it begins"),
    ],
)
def test_hours_that_make_no_sense_are_refused(change: dict[str, object], said: str) -> None:
    raw = {**json.loads(hours("i-1", 2).dump()), **change}
    with pytest.raises(Unreadable, match=said):
        HoursRecord.load("x", json.dumps(raw).encode())


def test_a_drain_without_steps_is_no_drain() -> None:
    with pytest.raises(Unreadable, match="field steps"):
        DrainRecord.load("x", b'{"version":1,"steps":[1]}')


def test_a_run_written_before_runs_had_ids_is_still_read() -> None:
    raw = json.loads(RunRecord("vit", 3, "step-000003", True, NOON, "abc").dump())
    del raw["run"]
    assert RunRecord.load("x", json.dumps(raw).encode()) == RunRecord("vit", 3, "step-000003", True, NOON)


def test_a_node_writes_its_drain_under_its_own_id(s3: Any) -> None:
    record = DrainRecord("i-1", "vit", "spot", "why", NOON, 1.5, 120, None, ())
    Records(s3, BUCKET).write_drain("AROA:i-1", record)
    body = s3.get_object(Bucket=BUCKET, Key=drain_key("AROA:i-1"))["Body"].read()
    assert DrainRecord.load("x", body) == record


def test_hours_of_all_boots_of_one_month_and_no_other(s3: Any) -> None:
    records = Records(s3, BUCKET)
    records.write_hours("vit", "2026-12", "i-1-100", hours("i-1", 2))
    records.write_hours("vit", "2026-12", "i-2-100", hours("i-2", 3))
    records.write_hours("vit", "2026-11", "i-1-50", hours("i-1", 9))
    records.write_hours("desk", "2026-12", "i-3-100", hours("i-3", 9))
    assert set(records.hours("vit", "2026-12")) == {hours("i-1", 2), hours("i-2", 3)}
    records.write_hours("vit", "2026-12", "i-1-100", hours("i-1", 4))
    assert set(records.hours("vit", "2026-12")) == {hours("i-1", 4), hours("i-2", 3)}


def test_only_hours_that_changed_are_fetched_again(s3: Any) -> None:
    fetched: list[str] = []
    s3.meta.events.register("before-call.s3.GetObject", lambda params, **_: fetched.append(params["url"]))
    records = Records(s3, BUCKET)
    for number in range(5):
        records.write_hours("vit", "2026-12", f"i-{number}", hours(f"i-{number}", 2))
    records.hours("vit", "2026-12")
    records.write_hours("vit", "2026-12", "i-3", hours("i-3", 4))
    records.hours("vit", "2026-12")
    assert len(fetched) == 6


def test_a_node_that_may_only_list_never_asks_for_what_is_not_there(s3: Any) -> None:
    """S3 answers a missing object with 403 where the whole bucket can't be listed."""
    asked: list[str] = []
    s3.meta.events.register("before-call.s3.GetObject", lambda params, **_: asked.append(params["url"]))
    records = Records(s3, BUCKET, listed=True)
    assert records.override("vit").record is None
    assert records.run("vit") is None
    assert asked == []
    run = RunRecord("vit", 3, "step-000003", False, NOON, "abc")
    records.write_run("vit", run)
    assert records.run("vit") == run
