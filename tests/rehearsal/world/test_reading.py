"""What AWS answers, turned into values; what can't be played is said, not guessed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from nightshift.rehearsal.world.read import alarm_of, policy_of
from nightshift.rehearsal.world.read_group import action_of, policies_of, types_of

NOW = int(datetime(2026, 12, 7, 4, tzinfo=UTC).timestamp())
ACTION: dict[str, Any] = {
    "ScheduledActionName": "up-2000",
    "Recurrence": "0 20 * * MON,WED,FRI",
    "TimeZone": "Asia/Shanghai",
    "DesiredCapacity": 1,
}


def test_the_start_that_aws_shows_for_the_next_turn_bounds_nothing() -> None:
    next_turn = datetime(2026, 12, 7, 12, tzinfo=UTC)
    assert action_of({**ACTION, "StartTime": next_turn}, NOW).start is None


def test_a_start_beyond_the_next_turn_is_an_operators_hold() -> None:
    held = datetime(2026, 12, 11, 12, tzinfo=UTC)
    assert action_of({**ACTION, "StartTime": held}, NOW).start == int(held.timestamp())


def test_an_action_that_fires_once_keeps_its_time() -> None:
    once = datetime(2026, 12, 7, 5, tzinfo=UTC)
    raw = {"ScheduledActionName": "wake-end", "StartTime": once, "DesiredCapacity": 0}
    action = action_of(raw, NOW)
    assert (action.recurrence, action.start, action.desired, action.least) == (
        None,
        int(once.timestamp()),
        0,
        None,
    )


def test_a_policy_that_adds_a_percentage_is_not_played() -> None:
    problems: list[str] = []
    raw = [{"PolicyName": "grow", "AdjustmentType": "PercentChangeInCapacity", "StepAdjustments": [{}]}]
    assert list(policies_of(raw, "g", problems)) == []
    assert problems == ["g: policy grow: only one step to an exact size is played"]


def test_a_cron_snapshot_policy_is_not_played() -> None:
    problems: list[str] = []
    raw = {
        "PolicyId": "policy-1",
        "Description": "weekly",
        "State": "ENABLED",
        "PolicyDetails": {"Schedules": [{"CreateRule": {"CronExpression": "cron(0 5 ? * SUN *)"}}]},
    }
    assert list(policy_of(raw, problems)) == []
    assert "weekly" in problems[0]


def test_an_alarm_on_less_than_is_not_played() -> None:
    problems: list[str] = []
    raw = {"AlarmName": "low", "ComparisonOperator": "LessThanThreshold", "Metrics": [{"Id": "a"}]}
    assert list(alarm_of(raw, problems)) == []
    assert problems == ["alarm low: only `at least` on one result is played"]


@pytest.mark.parametrize(
    ("mixed", "expected"),
    [
        ({"LaunchTemplate": {"Overrides": [{"InstanceType": "a"}, {"InstanceType": "b"}]}}, ("a", "b")),
        (None, ("c",)),
    ],
)
def test_types_come_from_the_policy_or_from_the_template(mixed: Any, expected: tuple[str, ...]) -> None:
    assert types_of(mixed, {"InstanceType": "c"}) == expected
