"""Override verbs that die or cross each other: what stands is told, and saying one again heals it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from nightshift.records.store import override_key
from tests.cli.support.standing import BASE, BUCKET, VIT, Clients, desired, dying, override, starts


@pytest.mark.parametrize("survived", range(2))
def test_a_resume_that_dies_keeps_the_record_and_is_healed_by_saying_it_again(
    deployed: Clients,
    project: Any,
    monkeypatch: pytest.MonkeyPatch,
    survived: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project.say("hold", "vit", "--until", "2026-12-05")
    with dying(monkeypatch, survived):
        assert project.say("resume", "vit") == 1
    assert override(deployed) == ("down", "12-04 16:00")
    capsys.readouterr()
    assert project.say("status") == survived
    told = " ".join(capsys.readouterr().out.split())
    assert ('`nightshift hold vit --until "2026-12-05 00:00"` puts it right' in told) == bool(survived)
    assert project.say("resume", "vit") == 0
    assert (override(deployed), starts(deployed)["up-2000"]) == (None, "12-02 12:00")
    assert project.say("status") == 0


def test_a_moved_turn_that_no_record_asks_for_is_a_problem_of_status_and_shifts(
    deployed: Clients, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    project.say("hold", "vit", "--until", "2026-12-05")
    deployed("s3").delete_object(Bucket=BUCKET, Key=override_key("vit"))
    for verb in ("status", "shifts"):
        capsys.readouterr()
        assert project.say(verb, "--json") == 1
        (problem,) = json.loads(capsys.readouterr().out)["problems"]
        assert "action up-2000 fires next Mon 2026-12-07 20:00 CST, not Wed 2026-12-02 20:00" in problem
        assert "`nightshift resume vit` puts it right" in problem
        assert project.say(verb) == 1
        assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
    assert project.say("resume", "vit") == 0
    assert starts(deployed)["up-2000"] == "12-02 12:00"
    assert (project.say("status"), project.say("shifts")) == (0, 0)


def _interrupt(monkeypatch: pytest.MonkeyPatch, operation: str, act: Callable[[], object]) -> None:
    """Somebody else acts right before the first such call."""
    original = BASE._make_api_call
    waiting = [True]

    def interrupted(self: Any, asked: str, kwargs: Any) -> Any:
        if asked == operation and waiting:
            waiting.clear()
            act()
        return original(self, asked, kwargs)

    monkeypatch.setattr(BASE, "_make_api_call", interrupted)


def test_a_hold_whose_record_somebody_resumed_meanwhile_says_so(
    deployed: Clients, project: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    codes: list[int] = []
    resume = ("resume", "vit")
    _interrupt(monkeypatch, "PutScheduledUpdateGroupAction", lambda: codes.append(project.say(*resume)))
    assert project.say("hold", "vit", "--until", "2026-12-05") == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "vit: somebody ended the override while this verb ran" in told
    assert "`nightshift resume vit` gives them back" in told
    assert (codes, override(deployed)) == ([0], None)
    assert project.say("status") == 1
    assert project.say("resume", "vit") == 0
    assert project.say("status") == 0


def test_a_hold_whose_record_somebody_changed_meanwhile_names_them(
    deployed: Clients, project: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = ("hold", "vit", "--until", "2026-12-12")
    _interrupt(monkeypatch, "PutScheduledUpdateGroupAction", lambda: project.say(*other))
    assert project.say("hold", "vit", "--until", "2026-12-05", "--json") == 1
    told = json.loads(capsys.readouterr().out.partition("done\n")[2])
    assert told["done"] is False
    assert '`nightshift hold vit --until "2026-12-12 00:00"` keeps that' in told["changed_meanwhile"][0]
    assert override(deployed) == ("down", "12-11 16:00")


def test_a_resume_gives_back_what_a_slower_hold_moved_before_its_record_went(
    deployed: Clients, project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hold's own last look came before the record went, so only the resume can tell."""
    project.say("hold", "vit", "--until", "2026-12-05")
    moved = datetime(2026, 12, 7, 12, tzinfo=UTC)
    scaling = deployed("autoscaling")
    put = {"AutoScalingGroupName": VIT, "ScheduledActionName": "up-2000", "DesiredCapacity": 1}
    timing = {"Recurrence": "0 20 * * MON,WED,FRI", "TimeZone": "Asia/Shanghai", "StartTime": moved}
    _interrupt(
        monkeypatch, "DeleteObject", lambda: scaling.put_scheduled_update_group_action(**put, **timing)
    )
    assert project.say("resume", "vit") == 0
    assert starts(deployed)["up-2000"] == "12-02 12:00"
    assert project.say("status") == 0


@pytest.mark.parametrize("operation", ["PutScheduledUpdateGroupAction", "DeleteObject"])
def test_a_resume_takes_no_record_that_it_hasnt_seen(
    deployed: Clients,
    project: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    operation: str,
) -> None:
    project.say("hold", "vit", "--until", "2026-12-05")
    other = ("hold", "vit", "--until", "2026-12-12")
    _interrupt(monkeypatch, operation, lambda: project.say(*other))
    assert project.say("resume", "vit") == 1
    assert '`nightshift hold vit --until "2026-12-12 00:00"` keeps that' in " ".join(
        capsys.readouterr().out.split()
    )
    assert override(deployed) == ("down", "12-11 16:00")


def test_a_sleep_leaves_a_longer_hold_its_end(
    deployed: Clients, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    project.say("hold", "desk", "--until", "2026-12-05")
    deployed("autoscaling").set_desired_capacity(
        AutoScalingGroupName="nightshift-lab.desk", DesiredCapacity=1
    )
    assert project.say("sleep", "desk", "--yes") == 0
    assert "stays down until Sat 2026-12-05 00:00 CST as said before" in capsys.readouterr().out
    assert override(deployed, "desk") == ("down", "12-04 16:00")
    assert desired(deployed, "nightshift-lab.desk") == 0
    assert project.say("sleep", "desk", "--until", "2026-12-03 09:00", "--yes") == 0
    assert override(deployed, "desk") == ("down", "12-04 16:00")


def test_a_record_without_a_sensible_end_stops_no_verb_and_goes_with_resume(
    deployed: Clients, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    body = b'{"version": 1, "state": "down", "until": "9999-12-31T23:59:59Z", "by": "x", "at": "%s"}'
    for at in (b"2026-12-01T00:00:00Z", b"9999-12-01T00:00:00Z"):
        deployed("s3").put_object(Bucket=BUCKET, Key=override_key("vit"), Body=body % at)
        assert project.say("status") == 1
        assert project.say("shifts") == 0
        assert project.say("connect", "vit") == 1
        told, failed = capsys.readouterr()
        for words in (told, failed):
            assert "more than a year ahead" in " ".join(words.split())
            assert "`nightshift resume vit` removes it." in " ".join(words.split())
        assert "removes it.." not in told
        assert project.say("resume", "vit") == 0
        assert (override(deployed), project.say("status")) == (None, 0)


def test_a_hold_that_isnt_carried_out_is_to_be_said_again(
    deployed: Clients, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status hinted at `sleep`, which ended a hold of days at the next shift start."""
    project.say("hold", "vit", "--until", "2026-12-05")
    deployed("autoscaling").set_desired_capacity(AutoScalingGroupName=VIT, DesiredCapacity=1)
    capsys.readouterr()
    assert project.say("status") == 1
    told = " ".join(capsys.readouterr().out.split())
    assert 'vit: up outside its shifts; `nightshift hold vit --until "2026-12-05 00:00"` ends it now' in told


def test_a_wake_that_isnt_carried_out_is_to_be_said_again(
    deployed: Clients, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    project.say("wake", "vit", "--until", "2026-12-03 03:00", "--yes")
    deployed("autoscaling").set_desired_capacity(AutoScalingGroupName=VIT, DesiredCapacity=0)
    capsys.readouterr()
    project.say("status")
    told = " ".join(capsys.readouterr().out.split())
    assert 'down inside its shift; `nightshift wake vit --until "2026-12-03 03:00"` starts it now' in told
