"""Where notebooks are told of: the record, and who finds it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto import mock_aws

from nightshift.records.errors import Unreadable
from nightshift.records.notebook import Notebook, NotebookRecord
from nightshift.records.store import Records, notebook_key, readiness_key

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
BUCKET = "nightshift-lab-data-0a1b2c3d"
ADA, GRACE = Notebook("ada", 8888, "t" * 43), Notebook("grace", 8889, "u" * 43, "it ended three times")
RECORD = NotebookRecord("i-1", "desk", NOON, (ADA, GRACE))
INSTANTS = st.datetimes(datetime(2020, 1, 1), datetime(2100, 1, 1)).map(
    lambda at: at.replace(microsecond=0, tzinfo=UTC)
)
NOTEBOOKS = st.builds(Notebook, st.text(), st.integers(1, 65_535), st.text(), st.text())


@pytest.fixture(name="s3")
def _s3() -> Iterator[Any]:
    with mock_aws():
        client = boto3.client("s3", "us-east-1", aws_access_key_id="a", aws_secret_access_key="b")
        client.create_bucket(Bucket=BUCKET)
        yield client


@given(
    st.builds(
        NotebookRecord,
        node=st.text(),
        group=st.text(),
        since=INSTANTS,
        notebooks=st.lists(NOTEBOOKS).map(tuple),
    )
)
def test_notebooks_come_back_as_they_were_written(record: NotebookRecord) -> None:
    assert NotebookRecord.load("x", record.dump()) == record


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"port": 0}, "field port is 0, no port"),
        ({"port": 65_536}, "field port is 65536, no port"),
        ({"port": "8888"}, "field port is '8888', no whole number"),
        ({"token": None}, "field token is None, no text"),
        ({"user": 5}, "field user is 5, no text"),
    ],
)
def test_a_notebook_that_makes_no_sense_is_refused(change: dict[str, object], said: str) -> None:
    raw = json.loads(RECORD.dump())
    raw["notebooks"][0] |= change
    with pytest.raises(Unreadable, match=said):
        NotebookRecord.load("x", json.dumps(raw).encode())


def test_something_else_than_a_list_is_no_record() -> None:
    raw = {**json.loads(RECORD.dump()), "notebooks": {"ada": 8888}}
    with pytest.raises(Unreadable, match="field notebooks is no list of objects"):
        NotebookRecord.load("x", json.dumps(raw).encode())


def test_a_user_finds_the_own_one() -> None:
    assert RECORD.of("grace") == GRACE
    assert RECORD.of("edsger") is None


def test_no_token_is_shown_by_accident() -> None:
    assert ADA.token not in repr(RECORD)


def test_notebooks_are_found_by_their_node_and_a_damaged_record_harms_no_other(s3: Any) -> None:
    records = Records(s3, BUCKET)
    records.write_notebook("AROA:i-1", RECORD)
    s3.put_object(Bucket=BUCKET, Key=notebook_key("AROA:i-2"), Body=b"{}")
    s3.put_object(Bucket=BUCKET, Key=readiness_key("AROA:i-3"), Body=b"{}")
    records.write_notebook("AROA:i-4", RECORD)
    found = records.notebooks({"i-1", "i-2", "i-3"})
    assert found["i-1"] == RECORD
    assert isinstance(found["i-2"], Unreadable)
    assert set(found) == {"i-1", "i-2"}
