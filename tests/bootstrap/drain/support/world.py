"""A drain on a clock that a test turns: a job, volumes, records and a hook that do as told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

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
