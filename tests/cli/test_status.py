"""What status says of a site, from facts alone and from moto."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from bootstrap.manifest import BootIdle
from bootstrap.start.stay import Stay
from nightshift.cli.live import LiveAction, LiveGroup, LiveNode
from nightshift.cli.status_facts import Disk, FailedLaunch, Machine, Spoken, StatusFacts, idle_of, read_failed
from nightshift.cli.verb_status import answer, state_of
from nightshift.plan.names import bucket_name
from nightshift.plan.shifts import compile_actions
from nightshift.records.model import OverrideRecord, ReadinessRecord, RunRecord
from nightshift.records.store import Records, readiness_key
from nightshift.settings.to_plan import calendar_of

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
BUCKET = bucket_name("lab", "data", "123456789012", "us-east-1")


def _node(state: str = "InService", healthy: bool = True) -> LiveNode:
    return LiveNode("i-0abc0000000000001", "g6.2xlarge", "us-east-1a", state, healthy)


@pytest.fixture(name="facts")
def _facts(project: Any) -> StatusFacts:
    """Tuesday 17:00 in Shanghai: the desk is up, vit comes tomorrow."""
    groups = {
        name: LiveGroup(name, f"nightshift-lab.{name}", 0, actions=_actions(project, name))
        for name in ("desk", "vit")
    }
    groups["desk"] = replace(groups["desk"], desired=1, nodes=(_node(),))
    verdict = ReadinessRecord("i-0abc0000000000001", "desk", True, "", "", NOW - 7 * HOUR)
    run = RunRecord("vit", 48_200, "/data/runs/vit/step-48200", False, NOW - 10 * HOUR)
    return StatusFacts(
        account="123456789012",
        now=NOW,
        groups=groups,
        machines={"i-0abc0000000000001": Machine("running", NOW - 8 * HOUR, "on-demand")},
        volumes=(
            Disk("vol-0abc0000000000001", "imagenet", None, 300, "available", None),
            Disk("vol-0abc0000000000002", "runs", None, 200, "in-use", "i-0abc0000000000001"),
        ),
        spoken=Spoken(runs={"vit": run}, readiness={"i-0abc0000000000001": verdict}),
    )


def _actions(project: Any, group: str) -> dict[str, LiveAction]:
    one = calendar_of(project.stack.site, project.stack.groups[group])
    compiled = compile_actions(one.shifts, one.zone, one.nodes)
    return {
        each.name: LiveAction(each.name, each.recurrence, each.time_zone, each.desired, None)
        for each in compiled
    }


def test_a_sound_site_is_told_in_full(
    project: Any, facts: StatusFacts, golden: Callable[[str, Any], None]
) -> None:
    project.take_shipped_lab()
    found = answer(project.stack, facts)
    golden("status", found.lines)
    assert found.code == 0
    assert (found.data["problems"], found.data["warnings"]) == ([], [])


def test_the_json_has_what_a_script_asks_for(project: Any, facts: StatusFacts) -> None:
    told: Any = json.loads(json.dumps(answer(project.stack, facts).data))
    desk, vit = told["groups"]
    assert (desk["state"], desk["desired"], desk["in_service"]) == ("up", 1, 1)
    assert desk["nodes"][0]["ready"] is True
    assert vit["next"]["at"] == "2026-12-02T12:00:00Z"
    assert vit["run"] == {
        "step": 48_200,
        "checkpoint": "/data/runs/vit/step-48200",
        "done": False,
        "at": "2026-11-30T23:00:00Z",
    }


def _with(facts: StatusFacts, group: str, **changes: Any) -> StatusFacts:
    return replace(facts, groups={**facts.groups, group: replace(facts.groups[group], **changes)})


def _verdicts(project: Any, facts: StatusFacts) -> tuple[int, str]:
    found = answer(project.stack, facts)
    told: Any = found.data
    return found.code, " | ".join([*told["problems"], *told["warnings"]])


def test_suspended_processes_are_a_problem_with_awss_reason(project: Any, facts: StatusFacts) -> None:
    broken = _with(facts, "vit", suspended={"Launch": "Administrative suspension", "AZRebalance": "x"})
    assert _verdicts(project, broken) == (1, "vit: Launch is suspended: Administrative suspension")


@pytest.mark.parametrize(
    ("since", "desired", "code", "said"),
    [(False, 1, 1, "launch failed 3 h ago: no room"), (True, 0, 0, "a later launch succeeded")],
)
def test_a_failed_launch_is_a_problem_while_the_group_waits(
    project: Any, facts: StatusFacts, since: bool, desired: int, code: int, said: str
) -> None:
    failed = {"desk": FailedLaunch(NOW - 3 * HOUR, "no room", since)}
    nodes = () if desired else facts.groups["desk"].nodes
    broken = replace(_with(facts, "desk", nodes=nodes), failed=failed)
    got, told = _verdicts(project, broken)
    assert (got, said in told) == (code, True)


@pytest.mark.parametrize("state", ["terminated", "stopped", "shutting-down", None])
def test_a_dead_node_is_a_problem(project: Any, facts: StatusFacts, state: str | None) -> None:
    machines = {"i-0abc0000000000001": Machine(state, NOW - HOUR, "spot")} if state else {}
    code, told = _verdicts(project, replace(facts, machines=machines))
    assert (code, f"is dead ({state or 'gone'})" in told) == (1, True)


def test_an_unready_node_names_its_failed_check(project: Any, facts: StatusFacts) -> None:
    verdict = ReadinessRecord("i-0abc0000000000001", "desk", False, "driver", "no /dev/nvidia0", NOW)
    spoken = replace(facts.spoken, readiness={"i-0abc0000000000001": verdict})
    code, told = _verdicts(project, replace(facts, spoken=spoken))
    assert (code, "isn't ready: driver: no /dev/nvidia0" in told) == (1, True)


IDLE = "all cards under 30 % for 45 minutes"


def test_an_idle_node_is_a_warning_with_the_way_to_end_it(project: Any, facts: StatusFacts) -> None:
    machine = Machine("running", NOW - 8 * HOUR, "on-demand", IDLE)
    code, told = _verdicts(project, replace(facts, machines={"i-0abc0000000000001": machine}))
    assert (code, told) == (
        0,
        f"desk: node i-0abc0000000000001 is idle: {IDLE}; `nightshift sleep desk` ends it",
    )


@pytest.mark.parametrize(
    ("reason", "idle"),
    [(IDLE, IDLE), ("all cards under 5 % for 2.5 minutes", "all cards under 5 % for 2.5 minutes")]
    + [(other, "") for other in ("", "the cards work again", "ready", "all cards under fire")],
)
def test_only_an_idle_verdict_counts_as_one(reason: str, idle: str) -> None:
    assert idle_of({"nightshift:reason": reason}) == idle


def test_the_node_says_it_in_the_words_that_are_looked_for() -> None:
    """The node's own code tags an emulated node; an hour later its cards work again."""
    tags: list[str] = []
    percent, now = [3], [0.0]
    node: Any = SimpleNamespace(
        clock=SimpleNamespace(now=lambda: now[0]),
        say=lambda line: None,
        aws=SimpleNamespace(tag_itself=lambda ready, reason: tags.append(reason)),
    )
    rooms: Any = SimpleNamespace(busiest=lambda: percent[0])
    manifest: Any = SimpleNamespace(idle=BootIdle(30, 0, "warn"))
    nothing: Any = None
    stay = Stay(node, manifest, rooms, nothing, nothing, None, None)
    for now[0], percent[0] in ((0.0, 3), (30.0, 3), (60.0, 90)):
        stay._look_idle()
    assert [idle_of({"nightshift:reason": tag}) for tag in tags] == ["all cards under 30 % for 0 minutes", ""]


def test_a_group_up_outside_its_shifts_is_a_problem(project: Any, facts: StatusFacts) -> None:
    code, told = _verdicts(project, _with(facts, "vit", desired=1, nodes=(_node(),)))
    assert (code, "vit: up outside its shifts" in told) == (1, True)


def test_a_wake_makes_the_same_right(project: Any, facts: StatusFacts) -> None:
    woken = OverrideRecord("up", NOW + 3 * HOUR, "arn:aws:iam::123456789012:user/ana", NOW)
    spoken = replace(facts.spoken, overrides={"vit": woken})
    end = LiveAction("wake-end", None, None, 0, NOW + 3 * HOUR)
    actions = {**facts.groups["vit"].actions, end.name: end}
    up = _with(facts, "vit", desired=1, nodes=(_node(),), actions=actions)
    found = answer(project.stack, replace(up, spoken=spoken))
    assert found.code == 0
    assert "vit: override: up until Tue 2026-12-01 20:00 CST, by user/ana" in found.lines


def test_down_inside_a_shift_is_a_warning_unless_the_run_is_done(project: Any, facts: StatusFacts) -> None:
    down = _with(facts, "desk", desired=0, nodes=())
    assert _verdicts(project, down)[0] == 0
    assert "down inside its shift" in _verdicts(project, down)[1]
    done = RunRecord("desk", 9, "/data/runs/x", True, NOW)
    told = _verdicts(project, replace(down, spoken=replace(down.spoken, runs={"desk": done})))
    assert told == (0, "")


def test_another_schedule_than_the_files_is_a_warning(project: Any, facts: StatusFacts) -> None:
    code, told = _verdicts(project, _with(facts, "vit", actions={}))
    assert (code, "schedule isn't the stack file's" in told) == (0, True)


def test_damaged_records_are_problems(project: Any, facts: StatusFacts) -> None:
    spoken = replace(facts.spoken, unreadable=("s3://x: is no JSON",))
    assert _verdicts(project, replace(facts, spoken=spoken)) == (1, "s3://x: is no JSON")


@pytest.mark.parametrize(
    ("desired", "states", "said"),
    [
        (0, [], "down"),
        (1, [], "waiting"),
        (2, ["Pending:Wait"], "starting"),
        (2, ["InService", "Pending"], "starting"),
        (2, ["InService", "InService"], "up"),
        (0, ["Terminating:Wait"], "draining"),
    ],
)
def test_a_group_has_one_word_for_what_it_does(desired: int, states: list[str], said: str) -> None:
    assert state_of(LiveGroup("g", "a", desired, tuple(_node(state) for state in states))) == said


def test_before_the_first_deploy_status_still_answers(
    aws: Callable[[str], Any], project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert project.say("status") == 0
    told = capsys.readouterr().out
    assert "not deployed: run `pulumi up -s lab`" in told
    assert "up Wed 2026-12-02 20:00 CST, in 27 h" in told


def test_status_finds_groups_nodes_volumes_and_records_in_aws(
    deployed: Callable[[str], Any], project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    scaling, s3 = deployed("autoscaling"), deployed("s3")
    scaling.set_desired_capacity(AutoScalingGroupName="nightshift-lab.desk", DesiredCapacity=1)
    groups = scaling.describe_auto_scaling_groups(AutoScalingGroupNames=["nightshift-lab.desk"])
    node = groups["AutoScalingGroups"][0]["Instances"][0]["InstanceId"]
    records = Records(s3, BUCKET)
    records.write_run("vit", RunRecord("vit", 7, "/data/runs/vit", False, NOW))
    records.write_readiness(f"AROAX:{node}", ReadinessRecord(node, "desk", True, "", "", NOW))
    records.write_override("vit", OverrideRecord("down", NOW + 48 * HOUR, "x:user/ana", NOW), None)
    s3.put_object(Bucket=BUCKET, Key=readiness_key("AROAX:i-0dead"), Body=b"{")
    assert project.say("status", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["groups"][0]["nodes"][0]["id"] == node
    assert told["groups"][0]["nodes"][0]["ready"] is True
    assert told["groups"][1]["override"]["by"] == "x:user/ana"
    assert told["groups"][1]["run"]["step"] == 7
    assert [one["name"] for one in told["volumes"]] == ["imagenet", "runs"]


def test_a_record_steers_no_terminal(
    deployed: Callable[[str], Any], project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a job calls its checkpoint comes here by way of the bucket."""
    record = RunRecord("vit", 7, "/data/runs/\x1b]0;mine\x07", False, NOW)
    Records(deployed("s3"), BUCKET).write_run("vit", record)
    assert project.say("status") == 0
    told = capsys.readouterr().out
    assert "/data/runs/\\x1b]0;mine\\x07" in told.replace("\n  ", "")
    assert "\x1b" not in told


class _Scaling:
    def __init__(self, *activities: dict[str, Any]) -> None:
        self._activities = activities

    def describe_scaling_activities(self, **_: Any) -> Any:
        return {"Activities": self._activities}


def _activity(code: str, what: str = "Launching a new EC2 instance") -> dict[str, Any]:
    return {"StatusCode": code, "StatusMessage": f"{code}!", "Description": what, "StartTime": NOW}


def test_the_newest_failed_launch_is_found_behind_later_successes() -> None:
    busy = _Scaling(
        _activity("Failed", "Terminating EC2 instance"), _activity("Successful"), _activity("Failed")
    )
    assert read_failed(busy, "asg") == FailedLaunch(NOW, "Failed!", True)
    assert read_failed(_Scaling(_activity("Failed")), "asg") == FailedLaunch(NOW, "Failed!", False)
    assert read_failed(_Scaling(_activity("Successful")), "asg") is None


def test_the_longest_names_still_fit_the_page(project: Any, facts: StatusFacts) -> None:
    long = "a-group-of-20-letter"
    project.file.write_text(
        project.file.read_text().replace("    vit:", f"    {long}:").replace("runs", "volume-of-20-letters")
    )
    node = LiveNode("i-0abc0000000000001", "p6-b200.48xlarge", "us-east-1a", "Terminating:Wait", True)
    group = replace(facts.groups["vit"], name=long, desired=1, nodes=(node,), suspended={"Launch": "x" * 200})
    disk = Disk(
        "vol-0abc0000000000002", "volume-of-20-letters", "99", 65_536, "in-use", "i-0abc0000000000001"
    )
    full = replace(facts, groups={"desk": facts.groups["desk"], long: group}, volumes=(disk,))
    lines = answer(project.stack, full).lines
    assert max(map(len, lines)) <= 80
    assert any("p6-b200.48xlarge" in line for line in lines)


@pytest.mark.parametrize(
    ("state", "word"),
    [
        ("Pending:Wait", "booting"),
        ("Terminating:Wait", "draining"),
        ("Terminating", "draining"),
        ("InService", "InService"),
        ("Standby", "Standby"),
    ],
)
def test_a_nodes_row_stays_on_one_line_whatever_it_does(
    project: Any, facts: StatusFacts, state: str, word: str
) -> None:
    node = LiveNode("i-0abc0000000000001", "g6.12xlarge", "us-east-1a", state, True)
    group = replace(facts.groups["vit"], desired=1, nodes=(node,))
    lines = answer(project.stack, replace(facts, groups={"vit": group})).lines
    (row,) = [line for line in lines if line.startswith("i-0abc")]
    assert f"  {word}  " in row
    assert lines[lines.index(row) + 1] == ""
