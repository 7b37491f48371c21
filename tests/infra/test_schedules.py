"""Scheduled actions: all three sizes always, made anew on any change, held under an override."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from infra.schedules import ScheduleSpec, schedule_specs
from nightshift.plan.calendar import Override
from nightshift.plan.shifts import Action
from tests.infra.recorder import Recorder
from tests.infra.support.samples import MONDAY_NOON, declare, lab, nothing_alive, running

UP = Action("up-2000", "0 20 * * MON,WED,FRI", "Asia/Shanghai", 1)
DOWN = Action("down-0700", "0 7 * * TUE,THU,SAT", "Asia/Shanghai", 0)


def actions(recorder: Recorder, group: str = "vit") -> dict[str, dict[str, object]]:
    return {each.name: each.inputs for each in recorder.all("Schedule") if each.parent == group}


def test_every_action_sends_all_three_sizes_since_an_unset_one_would_be_sent_as_zero() -> None:
    assert actions(declare()) == {
        "vit-up-2000": {
            "autoscalingGroupName": "nightshift-lab.vit",
            "scheduledActionName": "up-2000",
            "recurrence": "0 20 * * MON,WED,FRI",
            "timeZone": "Asia/Shanghai",
            "minSize": -1,
            "maxSize": -1,
            "desiredCapacity": 1,
        },
        "vit-down-0700": {
            "autoscalingGroupName": "nightshift-lab.vit",
            "scheduledActionName": "down-0700",
            "recurrence": "0 7 * * TUE,THU,SAT",
            "timeZone": "Asia/Shanghai",
            "minSize": -1,
            "maxSize": -1,
            "desiredCapacity": 0,
        },
    }


def test_any_change_deletes_an_action_first_and_makes_it_anew() -> None:
    for action in declare().all("Schedule"):
        assert list(action.request.replaceOnChanges) == ["*"]
        assert action.request.deleteBeforeReplace
        assert action.request.deleteBeforeReplaceDefined


def test_actions_come_after_the_hooks_and_end_with_the_group() -> None:
    recorder = declare()
    group = recorder.one("Group", "vit-group")
    for name in ("vit-up-2000", "vit-down-0700"):
        action = recorder.one("Schedule", name)
        assert action.depends_on == {"vit-group", "vit-ready", "vit-drain"}
        assert action.request.deletedWith == group.urn


def held(*live: Action) -> dict[str, dict[str, object]]:
    """The group's actions under a hold until Sunday, with these actions alive."""
    sunday = datetime(2026, 12, 6, 4, tzinfo=UTC)
    site = nothing_alive(
        now=MONDAY_NOON,
        groups=running(vit=0, desk=0),
        actions={"vit": live},
        overrides={"vit": Override("down", sunday)},
    )
    return actions(declare(live=site))


def test_under_a_hold_an_unchanged_action_keeps_the_start_time_that_the_operator_put() -> None:
    assert not any("startTime" in each for each in held(UP, DOWN).values())


@pytest.mark.parametrize("before", [(), (Action("up-2000", "0 20 * * MON", "Asia/Shanghai", 1), DOWN)])
def test_under_a_hold_an_action_made_anew_starts_only_after_it(before: tuple[Action, ...]) -> None:
    found = held(*before)
    assert found["vit-up-2000"]["startTime"] == "2026-12-07T12:00:00Z", "Monday 20:00 in Shanghai"
    assert "startTime" not in found["vit-down-0700"]


def test_an_override_that_is_past_moves_no_action() -> None:
    site = nothing_alive(overrides={"vit": Override("down", datetime(2026, 11, 29, tzinfo=UTC))})
    assert not any("startTime" in each for each in actions(declare(live=site)).values())


def test_only_changed_actions_get_a_start() -> None:
    start = datetime(2026, 12, 7, 12, tzinfo=UTC)
    specs = schedule_specs((UP, DOWN), ("up-2000",), {"up-2000": start, "down-0700": start})
    assert specs == (ScheduleSpec(UP, start), ScheduleSpec(DOWN))


def test_an_edited_day_leaves_the_other_action_as_it_was() -> None:
    def add_sunday(raw: dict) -> None:
        raw["nightshift:groups"]["vit"]["shifts"][0]["days"].append("sun")

    before, after = actions(declare()), actions(declare(lab(add_sunday)))
    assert {name for name in before if before[name] != after[name]} == {"vit-up-2000", "vit-down-0700"}
    assert set(before) == set(after), "the names stay, so that the engine replaces and doesn't add"
