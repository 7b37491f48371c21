"""The one way in which a node ends, on a clock that a test turns: order, shares, second notices."""

from __future__ import annotations

import threading

import pytest
from botocore.exceptions import ClientError

from bootstrap.drain.budget import share
from bootstrap.drain.report import Saved
from bootstrap.drain.volumes import Let
from bootstrap.lifecycle.notice import Notice
from tests.bootstrap.drain.support.world import END, PLANNED_S, FakeJob, World, asked
from tests.bootstrap.support.rooms import End


def test_the_order_is_job_unmount_records_hook_detach() -> None:
    world = World()
    job = FakeJob(world.time)
    job.on_kill = lambda: world.did.append("kill")
    report = asked(world, job, END)
    assert world.did == ["kill", "unmount", "run", "record", "hook", "detach"]
    assert [step.name for step in report.steps] == ["job", *world.did]
    assert report.clean
    assert report.took("job") == pytest.approx(2, abs=0.2)
    assert report.until("unmount") == pytest.approx(3, abs=0.2)
    assert world.runs == [Saved(7, "step-000007", True)]


def test_what_is_recorded_is_what_was_done_until_then() -> None:
    world = World()
    asked(world, FakeJob(world.time), END)
    (record,) = world.drains
    assert (record.node, record.group, record.kind, record.saved) == ("i-1", "vit", "end", True)
    assert [step.name for step in record.steps] == ["job", "kill", "unmount", "run"]
    assert record.budget_s == PLANNED_S


def test_a_job_that_says_nothing_is_killed_at_its_share_so_that_the_unmount_still_fits() -> None:
    world = World()
    job = FakeJob(world.time, takes=None)
    report = asked(world, job, Notice("spot", "taken back", world.time.now + 120))
    assert report.took("job") == pytest.approx(share(120).job_s, abs=0.2)
    assert job.killed == 1
    assert (report.until("unmount") or 1e9) < 120
    assert world.limits["unmount"] >= share(120).unmount_s
    assert [step.name for step in report.left] == ["job"]
    assert "said nothing within its share; step-000005, later steps are lost" in report.left[0].says
    assert world.drains[0].saved is False
    assert world.runs == [Saved(5, "step-000005", False)]


def test_a_spot_notice_is_not_extended_by_a_longer_planned_drain() -> None:
    world = World()
    report = asked(world, FakeJob(world.time, takes=None), Notice("spot", "x", world.time.now + 50))
    assert report.budget_s == 50
    assert report.took("job") == pytest.approx(35, abs=0.2)


def test_a_planned_drain_is_not_extended_by_a_date_far_off() -> None:
    world = World()
    report = asked(world, FakeJob(world.time), Notice("spot", "x", world.time.now + 9e9))
    assert report.budget_s == PLANNED_S


def test_a_second_notice_changes_nothing() -> None:
    world = World()
    job = FakeJob(world.time, takes=20)
    world.time.at = {world.time.now + each: lambda: world.inbox.put(END) for each in (3, 5, 7)}
    report = asked(world, job, END)
    assert len(job.asked) == 1
    assert report.took("job") == pytest.approx(20, abs=0.2)
    assert sum("notice" in each for each in world.said) == 1


def test_a_second_notice_with_an_earlier_date_brings_the_end_forward_and_the_job_is_told() -> None:
    world = World()
    job = FakeJob(world.time, takes=None)
    spot = Notice("spot", "taken back", world.time.now + 10 + 120)
    world.time.at = {world.time.now + 10: lambda: world.inbox.put(spot)}
    report = asked(world, job, END)
    assert len(job.asked) == 2
    first, second = (by for _, by in job.asked)
    assert first is not None
    assert second is not None
    assert second < first
    assert report.took("job") == pytest.approx(share(130).job_s, abs=0.3)
    assert report.kind == "end"


def test_a_later_date_after_an_earlier_one_changes_nothing() -> None:
    world = World()
    job = FakeJob(world.time, takes=None)
    later = Notice("spot", "x", world.time.now + 400)
    world.time.at = {world.time.now + 1: lambda: world.inbox.put(later)}
    report = asked(world, job, Notice("spot", "x", world.time.now + 100))
    assert len(job.asked) == 1
    assert report.took("job") == pytest.approx(70, abs=0.2)


def test_a_volume_that_cannot_be_let_go_keeps_nothing_else() -> None:
    world = World(unmounts=Let(False, "/data/runs busy"))
    report = asked(world, FakeJob(world.time), END)
    assert world.did == ["unmount", "run", "record", "hook", "detach"]
    assert [(step.name, step.says) for step in report.left] == [("unmount", "/data/runs busy")]
    assert world.drains[0].steps[2].done is False


def test_without_a_job_only_volumes_and_records_are_left() -> None:
    world = World()
    report = asked(world, None, END)
    assert world.did == ["unmount", "record", "hook", "detach"]
    assert world.drains[0].saved is None
    assert report.clean


def refused() -> ClientError:
    return ClientError({"Error": {"Code": "Throttling", "Message": "slow down"}}, "Complete")


def test_a_hook_that_nobody_waits_for_is_told_all_the_same() -> None:
    world = World(hook=[False])
    report = asked(world, None, Notice("spot", "x", world.time.now + 60))
    assert report.clean
    assert report.steps[-2].says == "nobody waited any more"


def test_a_hook_that_refuses_at_first_is_told_again() -> None:
    world = World(hook=[refused(), refused(), True])
    assert asked(world, None, END).clean
    assert world.did.count("hook") == 3


def test_a_hook_that_is_never_told_is_said_and_the_volumes_are_given_back() -> None:
    world = World(hook=[refused()] * 99)
    report = asked(world, None, Notice("spot", "x", world.time.now + 60))
    assert [step.name for step in report.left] == ["hook"]
    assert "slow down" in report.left[0].says
    assert world.did[-1] == "detach"


def test_a_finished_job_needs_no_checkpoint_of_its_last_step() -> None:
    world = World()
    job = FakeJob(world.time, takes=0, end=End("finished", 9, "step-000009", True, "all epochs"))
    assert asked(world, job, Notice("finished", "the run is finished")).clean


def test_a_step_that_hangs_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    held = threading.Event()
    world = World()
    job = FakeJob(world.time, takes=0)
    job.on_kill = lambda: (held.wait(20), None)[1]
    monkeypatch.setattr("bootstrap.drain.path.KILL_LEAST_S", 0.05)
    report = asked(world, job, Notice("spot", "x", world.time.now))
    held.set()
    assert [step.name for step in report.left] == ["kill"]
    assert "no answer within" in report.left[0].says
    assert world.did[-1] == "detach"
