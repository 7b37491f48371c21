"""hold, wake, sleep and resume against moto: what they write, in which order, and what they refuse."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from nightshift.records.model import OverrideRecord
from nightshift.records.store import Records, override_key
from tests.cli.support.standing import BASE, BUCKET, VIT, WRITES, Clients, desired, dying, override, starts


@pytest.fixture(name="calls")
def _calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The writing calls in their order."""
    made: list[str] = []
    original = BASE._make_api_call

    def record(self: Any, operation: str, kwargs: Any) -> Any:
        if operation in WRITES:
            made.append(operation)
        return original(self, operation, kwargs)

    monkeypatch.setattr(BASE, "_make_api_call", record)
    return made


def test_a_hold_moves_the_next_start_behind_its_end(
    deployed: Clients, project: Any, calls: list[str]
) -> None:
    assert project.say("hold", "vit", "--until", "2026-12-05") == 0
    assert override(deployed) == ("down", "12-04 16:00")
    assert starts(deployed) == {"up-2000": "12-07 12:00", "down-0700": None}
    assert calls == ["PutObject", "PutScheduledUpdateGroupAction"]
    assert project.asked == []


def test_the_same_verb_again_changes_nothing(deployed: Clients, project: Any, calls: list[str]) -> None:
    project.say("hold", "vit", "--until", "2026-12-05")
    calls.clear()
    assert project.say("hold", "vit", "--until", "2026-12-05") == 0
    assert calls == []


def test_a_wake_writes_record_then_actions_then_size(
    deployed: Clients, project: Any, calls: list[str]
) -> None:
    assert project.say("wake", "vit", "--until", "2026-12-02 03:00") == 0
    assert calls == ["PutObject", "PutScheduledUpdateGroupAction", "SetDesiredCapacity"]
    assert override(deployed) == ("up", "12-01 19:00")
    assert starts(deployed)["wake-end"] == "12-01 19:00"
    assert desired(deployed) == 1


def test_a_wake_beside_a_group_with_the_same_volume_warns_and_asks(deployed: Clients, project: Any) -> None:
    project.answer = False
    assert project.say("wake", "vit", "--for", "3h") == 1
    assert project.asked == ["Go on?"]
    assert (desired(deployed), override(deployed)) == (0, None)


def test_resume_gives_every_turn_back(deployed: Clients, project: Any, calls: list[str]) -> None:
    project.say("hold", "vit", "--until", "2026-12-05")
    calls.clear()
    assert project.say("resume", "vit") == 0
    assert override(deployed) is None
    assert starts(deployed)["up-2000"] == "12-02 12:00"
    assert calls == ["PutScheduledUpdateGroupAction", "DeleteObject"]


def test_a_resume_in_the_last_minute_before_a_shift_still_starts_it(deployed: Clients, project: Any) -> None:
    project.say("hold", "vit", "--until", "2026-12-05")
    project.env["NIGHTSHIFT_NOW"] = "2026-12-02T11:59:05Z"
    assert project.say("resume", "vit") == 0
    assert starts(deployed)["up-2000"] == "12-02 12:00"


def test_sleep_drains_only_after_a_yes(deployed: Clients, project: Any) -> None:
    deployed("autoscaling").set_desired_capacity(
        AutoScalingGroupName="nightshift-lab.desk", DesiredCapacity=1
    )
    project.answer = False
    assert project.say("sleep", "desk") == 1
    assert desired(deployed, "nightshift-lab.desk") == 1
    project.answer = True
    assert project.say("sleep", "desk") == 0
    assert desired(deployed, "nightshift-lab.desk") == 0
    assert override(deployed, "desk") == ("down", "12-02 01:00")


def test_a_dry_run_shows_everything_and_does_nothing(
    deployed: Clients, project: Any, calls: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert project.say("hold", "vit", "desk", "--until", "mon 09:00", "--dry-run", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["done"] is False
    assert [one["group"] for one in told["groups"]] == ["vit", "desk"]
    assert told["groups"][0]["override"] == {"state": "down", "until": "2026-12-07T01:00:00Z"}
    assert told["groups"][0]["puts"][0]["start"] == "2026-12-07T12:00:00Z"
    assert calls == []


@pytest.mark.parametrize("survived", range(3))
def test_a_wake_that_dies_between_steps_is_healed_by_saying_it_again(
    deployed: Clients, project: Any, monkeypatch: pytest.MonkeyPatch, survived: int
) -> None:
    project.say("hold", "vit", "--until", "2026-12-05")
    with dying(monkeypatch, survived):
        assert project.say("wake", "vit", "--until", "2026-12-02 03:00", "--yes") == 1
    assert project.say("wake", "vit", "--until", "2026-12-02 03:00", "--yes") == 0
    assert override(deployed) == ("up", "12-01 19:00")
    assert starts(deployed) == {"up-2000": "12-02 12:00", "down-0700": None, "wake-end": "12-01 19:00"}
    assert desired(deployed) == 1


@pytest.mark.parametrize("survived", range(3))
def test_a_hold_that_dies_between_steps_is_healed_by_saying_it_again(
    deployed: Clients, project: Any, monkeypatch: pytest.MonkeyPatch, survived: int
) -> None:
    deployed("autoscaling").set_desired_capacity(AutoScalingGroupName=VIT, DesiredCapacity=1)
    project.env["NIGHTSHIFT_NOW"] = "2026-12-02T14:00:00Z"
    with dying(monkeypatch, survived):
        assert project.say("hold", "vit", "--until", "2026-12-05", "--yes") == 1
    assert project.say("hold", "vit", "--until", "2026-12-05", "--yes") == 0
    assert override(deployed) == ("down", "12-04 16:00")
    assert starts(deployed)["up-2000"] == "12-07 12:00"
    assert desired(deployed) == 0


def test_an_override_that_someone_wrote_meanwhile_isnt_overwritten(
    deployed: Clients, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Records(deployed("s3"), BUCKET)

    def write_between(question: str) -> bool:
        now = datetime(2026, 12, 1, 9, tzinfo=UTC)
        store.write_override("vit", OverrideRecord("down", now.replace(day=9), "user/ben", now), None)
        return True

    project.ask = write_between
    assert project.say("wake", "vit", "--for", "3h") == 1
    assert "Look again" in capsys.readouterr().err
    assert (override(deployed), desired(deployed)) == (("down", "12-09 09:00"), 0)


def test_a_damaged_override_is_overwritten(deployed: Clients, project: Any) -> None:
    deployed("s3").put_object(Bucket=BUCKET, Key=override_key("vit"), Body=b"{")
    assert project.say("hold", "vit", "--until", "2026-12-05") == 0
    assert override(deployed) == ("down", "12-04 16:00")


def test_deployed_shifts_that_arent_the_files_are_named(
    deployed: Clients, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    deployed("autoscaling").put_scheduled_update_group_action(
        AutoScalingGroupName=VIT, ScheduledActionName="up-1900", Recurrence="0 19 * * MON", DesiredCapacity=1
    )
    deployed("autoscaling").delete_scheduled_action(AutoScalingGroupName=VIT, ScheduledActionName="up-2000")
    assert project.say("hold", "vit", "--until", "2026-12-05") == 0
    told = capsys.readouterr().out
    assert "up-2000 isn't deployed" in told
    assert "up-1900 isn't in the stack file" in told


def test_a_group_that_isnt_deployed_says_how_to_deploy(
    aws: Clients, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert project.say("sleep", "vit") == 1
    assert "pulumi up -s lab" in capsys.readouterr().err
