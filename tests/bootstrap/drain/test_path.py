"""The one way in which a node ends, on a clock that a test turns: order, shares, second notices."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.exceptions import ClientError

from bootstrap.drain.budget import share
from bootstrap.drain.path import Drain, Ending, Parts
from bootstrap.drain.report import DrainReport, Saved
from bootstrap.drain.volumes import Let
from bootstrap.lifecycle.notice import Inbox, Notice
from bootstrap.storage.waiting import Clock
from nightshift.records.drain import DrainRecord
from tests.bootstrap.support.rooms import End, FakePeople

PLANNED_S = 600.0
GOOD = Let(True, "fine")


@dataclass
class Time:
    """Turned by whoever sleeps. `at` are things that happen at their second."""

    now: float = 1000.0
    at: dict[float, Callable[[], None]] = field(default_factory=dict)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        for when in sorted(each for each in self.at if each <= self.now):
            self.at.pop(when)()

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.now, self.sleep)


@dataclass
class FakeJob:
    """Ends `takes` seconds after it was asked; None: never."""

    time: Time
    takes: float | None = 2.0
    end: End = field(default_factory=End)
    asked: list[tuple[str, float | None]] = field(default_factory=list)
    began: float | None = None
    killed: int = 0
    on_kill: Callable[[], None] = lambda: None

    def drain(self, reason: str, by: float | None) -> None:
        self.began = self.began or self.time.now
        self.asked.append((reason, by))

    def poll(self) -> Ending | None:
        over = self.takes is not None and self.began is not None and self.time.now >= self.began + self.takes
        return self.end if over else None

    def kill(self) -> list[int]:
        self.killed += 1
        self.on_kill()
        return []


@dataclass
class World:
    time: Time = field(default_factory=Time)
    said: list[str] = field(default_factory=list)
    did: list[str] = field(default_factory=list)
    runs: list[Saved] = field(default_factory=list)
    drains: list[DrainRecord] = field(default_factory=list)
    hook: list[Any] = field(default_factory=list)
    unmounts: Let = GOOD
    limits: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.inbox = Inbox(self.said.append)

    def unmount(self, limit_s: float) -> Let:
        self.did.append("unmount")
        self.limits["unmount"] = limit_s
        self.time.sleep(1)
        return self.unmounts

    def release(self, limit_s: float) -> Let:
        self.did.append("detach")
        self.limits["detach"] = limit_s
        return GOOD

    def complete(self) -> bool:
        self.did.append("hook")
        answer = self.hook.pop(0) if self.hook else True
        if isinstance(answer, Exception):
            raise answer
        return bool(answer)

    def run(self, job: FakeJob | None, people: FakePeople | None = None) -> DrainReport:
        def saved(ended: Ending | None) -> Saved | None:
            if ended is not None and ended.checkpoint:
                return Saved(ended.step or 0, ended.checkpoint, ended.saved)
            return Saved(5, "step-000005", False)

        def write_run(each: Saved) -> None:
            self.did.append("run")
            self.runs.append(each)

        def write_drain(record: DrainRecord) -> None:
            self.did.append("record")
            self.drains.append(record)

        clock = self.time.clock
        parts = Parts(job, self, saved, write_run, write_drain, self.complete, "i-1", "vit", clock, people)
        return Drain(parts, self.inbox, PLANNED_S, self.said.append).run()


def asked(world: World, job: FakeJob | None, *notices: Notice) -> DrainReport:
    for each in notices:
        world.inbox.put(each)
    return world.run(job)


END = Notice("end", "the group ends this node")


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


class Watched(FakePeople):
    """Notes how long it may take to end the notebooks, and takes some time."""

    def __init__(self, world: World, takes: float = 0.0) -> None:
        super().__init__(world.did, has_notebooks=True)
        self.world, self.takes, self.limits = world, takes, list[float]()

    def leave(self, text: str) -> None:
        self.did.append("leave")
        super().leave(text)

    def end(self, limit_s: float) -> Let:
        self.limits.append(limit_s)
        self.world.time.sleep(min(limit_s, self.takes))
        return super().end(limit_s)


def test_people_hear_of_it_first_and_their_notebooks_are_gone_before_the_volumes_are() -> None:
    world = World()
    people = Watched(world)
    world.inbox.put(END)
    report = world.run(FakeJob(world.time), people)
    assert world.did[:3] == ["leave", "notebooks", "unmount"]
    assert [step.name for step in report.steps][:4] == ["job", "kill", "notebooks", "unmount"]
    assert people.words == ["what runs here ends within 600 s: the group ends this node"]


def test_notebooks_end_while_the_job_does_and_cost_it_nothing() -> None:
    world = World()
    people = Watched(world, takes=60)
    world.inbox.put(Notice("spot", "taken back", world.time.now + 120))
    report = world.run(FakeJob(world.time, takes=30), people)
    assert report.took("job") == pytest.approx(30, abs=0.2)
    assert people.limits == [1.0], "they had the job's time already"
    assert (report.until("unmount") or 1e9) < 33


def test_without_a_job_they_may_take_what_a_job_may_take_to_be_killed() -> None:
    world = World()
    people = Watched(world)
    world.inbox.put(Notice("spot", "taken back", world.time.now + 120))
    world.run(None, people)
    assert people.limits == [pytest.approx(share(120).kill_s, abs=0.1)]


def test_without_notebooks_there_is_no_such_step() -> None:
    world = World()
    people = Watched(world)
    people.has_notebooks = False
    world.inbox.put(END)
    assert "notebooks" not in [step.name for step in world.run(None, people).steps]
    assert people.words
