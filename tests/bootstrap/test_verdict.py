"""The verdict fails closed, and a launch ends as the record says."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from bootstrap.lifecycle.conclude import conclude
from bootstrap.readiness.verdict import NO_CHECKS, Finding, Verdict, judge
from nightshift.records.errors import NoBucket
from nightshift.records.model import ReadinessRecord

AT = datetime(2026, 12, 7, 11, 0, tzinfo=UTC)
GOOD = Finding("driver", True, "550 or newer", "595", "")
BAD = Finding("fabric", False, "active", "inactive", "replace the node")
READY, NOT_READY = Verdict(True, "", "2 checks passed"), Verdict(False, "fabric", "inactive")


def test_no_check_is_no_proof() -> None:
    assert judge([]) == Verdict(False, "none", NO_CHECKS)


def test_ready_takes_every_check() -> None:
    assert judge([GOOD, GOOD]) == READY
    assert judge([GOOD, BAD, GOOD]) == Verdict(
        False, "fabric", "fabric: expected active, found inactive; replace the node"
    )


class Aws:
    """Notes the calls; raises for those named in `broken`."""

    def __init__(self, *broken: str) -> None:
        self.broken = broken
        self.calls: list[tuple[str, ...]] = []
        self.records: list[ReadinessRecord] = []

    def _note(self, *call: str) -> None:
        if call[0] in self.broken:
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, call[0])
        self.calls.append(call)

    def count_failed_boot(self) -> None:
        self._note("count")

    def tag_itself(self, readiness: str, reason: str) -> None:
        self._note("tag", readiness, reason)

    def complete_launch(self, result: str) -> bool:
        self._note("complete", result)
        return True

    def write(self, record: ReadinessRecord) -> None:
        self._note("write")
        self.records.append(record)


def ended(verdict: Verdict, aws: Aws) -> list[tuple[str, ...]]:
    conclude(verdict, "i-0abc", "vit", AT, aws, aws.write)
    return aws.calls


def test_a_ready_node_is_recorded_first_and_goes_on() -> None:
    aws = Aws()
    assert ended(READY, aws) == [("write",), ("tag", "ready", "2 checks passed"), ("complete", "CONTINUE")]
    assert aws.records == [ReadinessRecord("i-0abc", "vit", True, "", "2 checks passed", AT)]


def test_a_node_that_is_not_ready_is_counted_and_abandoned_with_its_reason() -> None:
    aws = Aws()
    assert ended(NOT_READY, aws) == [
        ("write",),
        ("count",),
        ("tag", "not-ready", "inactive"),
        ("complete", "ABANDON"),
    ]
    assert aws.records == [ReadinessRecord("i-0abc", "vit", False, "fabric", "inactive", AT)]


def test_a_verdict_that_cannot_be_recorded_is_not_ready(capsys: pytest.CaptureFixture[str]) -> None:
    calls = ended(READY, Aws("write"))
    assert calls[-1] == ("complete", "ABANDON")
    assert "could not write the readiness record" in capsys.readouterr().err
    (tag,) = [call for call in calls if call[0] == "tag"]
    assert tag[1] == "not-ready"
    assert tag[2].startswith("could not write the readiness record: "), "not that all checks passed"


def test_a_failed_check_stays_the_reason_when_it_cannot_be_recorded() -> None:
    assert ("tag", "not-ready", "inactive") in ended(NOT_READY, Aws("write"))


@pytest.mark.parametrize(
    "error", [NoBucket("nightshift-lab-data"), EndpointConnectionError(endpoint_url="x")]
)
def test_a_bucket_that_is_gone_or_out_of_reach_is_not_ready(error: Exception) -> None:
    aws = Aws()

    def write(record: ReadinessRecord) -> None:
        raise error

    conclude(READY, "i-0abc", "vit", AT, aws, write)
    assert aws.calls[-1] == ("complete", "ABANDON")


def test_the_hook_is_told_whatever_else_fails() -> None:
    assert ended(NOT_READY, Aws("write", "count", "tag")) == [("complete", "ABANDON")]


def test_a_hook_that_cannot_be_told_is_raised_so_that_the_unit_tries_again() -> None:
    with pytest.raises(ClientError):
        ended(NOT_READY, Aws("complete"))
