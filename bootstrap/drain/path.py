"""The one way in which a node ends, whatever the notice: it stops the job, then lets go of the volumes.

job -> kill -> notebooks -> unmount -> run record -> drain record -> hook -> detach. Each step has a share of
the time that is left, and is measured; one that fails or is late is said, and the next is tried all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from time import time as unix_time
from typing import Protocol

from bootstrap.aws import AwsError
from bootstrap.drain.budget import Shares, share
from bootstrap.drain.report import DrainReport, Saved
from bootstrap.drain.volumes import Let
from bootstrap.lifecycle.bounded import TookTooLong, bounded
from bootstrap.lifecycle.completion import tell
from bootstrap.lifecycle.notice import Inbox, Notice
from bootstrap.storage.waiting import Clock
from nightshift.records.drain import DrainRecord, DrainStep
from nightshift.records.errors import RecordsError

POLL_S = 0.1
KILL_LEAST_S = 1.0


class Ending(Protocol):
    """How a job ended."""

    @property
    def kind(self) -> str:
        """finished, drained, failed or lost."""

    @property
    def step(self) -> int | None:
        """The last step."""

    @property
    def checkpoint(self) -> str | None:
        """The newest one's name."""

    @property
    def saved(self) -> bool:
        """Whether the last step is in it."""

    @property
    def reason(self) -> str:
        """In words."""


class Job(Protocol):
    """A job that runs."""

    def drain(self, reason: str, by: float | None) -> None:
        """Ask it to save and end; again only to bring `by` (unix seconds) forward."""

    def poll(self) -> Ending | None:
        """How it ended, None while it runs."""

    def kill(self) -> Sequence[int]:
        """Kill it; the ids of what the kernel still holds, none mostly."""


class VolumeEnds(Protocol):
    """The group's volumes on this node."""

    def unmount(self, limit_s: float) -> Let:
        """Sync and unmount."""

    def release(self, limit_s: float) -> Let:
        """Detach."""


class PeopleEnds(Protocol):
    """Who works on this node beside the job."""

    @property
    def has_notebooks(self) -> bool:
        """Whether there are notebooks to end."""

    def leave(self, text: str) -> None:
        """A word to everyone; notebooks are asked to end. Returns at once."""

    def end(self, limit_s: float) -> Let:
        """Until no process of a notebook is left."""


@dataclass(frozen=True)
class Parts:
    """What a drain works with. `saved` is the last checkpoint known, asked once the job has ended;
    `write_run` and `write_drain` put the records; `complete` tells the group's hook.
    """

    job: Job | None
    volumes: VolumeEnds
    saved: Callable[[Ending | None], Saved | None]
    write_run: Callable[[Saved], None]
    write_drain: Callable[[DrainRecord], None]
    complete: Callable[[], bool]
    node: str
    group: str
    clock: Clock = field(default_factory=Clock)
    people: PeopleEnds | None = None


class Drain:
    """One drain. `planned_s` is what it may take where no notice gives a date."""

    def __init__(self, parts: Parts, inbox: Inbox, planned_s: float, say: Callable[[str], None]) -> None:
        self._parts, self._inbox, self._say = parts, inbox, say
        self._clock = parts.clock
        self._notice: Notice = inbox.cause or Notice("stop", "asked for")
        self._at = datetime.now(timezone.utc)
        self._began = self._clock.now()
        self._planned_by = self._began + planned_s
        self._budget_s = self._by() - self._began
        self._steps: list[DrainStep] = []
        self._saved: Saved | None = None

    def run(self) -> DrainReport:
        """All steps, in order. Never raises for what a step meets."""
        parts, people = self._parts, self._parts.people
        if people is not None:
            people.leave(f"what runs here ends within {self._budget_s:.0f} s: {self._notice.reason}")
        if parts.job is not None:
            job = parts.job
            self._step("job", lambda: self._end_job(job))
            self._step("kill", lambda: self._kill(job))
        if people is not None and people.has_notebooks:
            self._step("notebooks", lambda: self._end_notebooks(people))
        self._step("unmount", lambda: parts.volumes.unmount(self._shares().unmount_s))
        saved = self._saved
        if saved is not None:
            self._step("run", lambda: self._put("the run record", lambda: parts.write_run(saved)))
        self._step("record", lambda: self._put("the drain record", self._record))
        self._step("hook", self._complete)
        self._step("detach", self._detach)
        return self._report()

    def _by(self) -> float:
        date = self._inbox.by
        return self._planned_by if date is None else min(date, self._planned_by)

    def _left(self) -> float:
        return self._by() - self._clock.now()

    def _shares(self) -> Shares:
        """Of the whole; what the job didn't use is the later steps' gain."""
        whole = share(self._by() - self._began)
        spare = max(0.0, self._left() - whole.kept_s)
        return Shares(
            whole.job_s, whole.kill_s, whole.unmount_s + spare, whole.tell_s + spare, whole.detach_s + spare
        )

    def _step(self, name: str, act: Callable[[], Let]) -> None:
        began = self._clock.now()
        try:
            let = act()
        except (TookTooLong, RecordsError, OSError, *AwsError) as error:
            let = Let(False, str(error))
        seconds = self._clock.now() - began
        self._steps.append(DrainStep(name, seconds, let.done, let.says))
        self._say(f"drain: {name} {seconds:.2f} s{'' if let.done else ', NOT DONE'}: {let.says}")

    def _job_by(self) -> float:
        """The monotonic instant at which the job's share ends."""
        return self._began + share(self._by() - self._began).job_s

    def _end_job(self, job: Job) -> Let:
        asked = self._job_by()
        job.drain(self._notice.reason, unix_time() + asked - self._clock.now())
        while (ended := job.poll()) is None and self._clock.now() < self._job_by():
            if (now_by := self._job_by()) < asked:
                asked = now_by
                job.drain(self._notice.reason, unix_time() + asked - self._clock.now())
            self._clock.sleep(POLL_S)
        self._saved = self._parts.saved(ended)
        if ended is None:
            return Let(False, f"said nothing within its share; {_newest(self._saved)}")
        return Let(
            ended.saved or ended.kind == "finished", f"{ended.kind}: {ended.reason}; {_newest(self._saved)}"
        )

    def _kill(self, job: Job) -> Let:
        left = bounded("end the job's processes", job.kill, max(self._shares().kill_s, KILL_LEAST_S))
        pids = ", ".join(map(str, left))
        return Let(not left, f"the kernel holds {pids}" if left else "nothing of the job runs")

    def _end_notebooks(self, people: PeopleEnds) -> Let:
        """They were asked at the beginning, so that they end while the job does."""
        since = self._clock.now() - self._began
        limit_s = max(self._shares().kill_s - since, KILL_LEAST_S)
        return bounded("end the notebooks", lambda: people.end(limit_s), limit_s + 3 * KILL_LEAST_S)

    def _put(self, what: str, act: Callable[[], None]) -> Let:
        bounded(what, act, self._shares().tell_s)
        return Let(True, f"{what} is written")

    def _record(self) -> None:
        self._parts.write_drain(self._report().record(self._parts.node, self._parts.group))

    def _complete(self) -> Let:
        limit_s = self._shares().tell_s
        told = bounded(
            "tell the group", lambda: tell(self._parts.complete, limit_s, self._clock), limit_s + 1.0
        )
        return Let(told.heard, told.says)

    def _detach(self) -> Let:
        limit_s = max(self._shares().detach_s, 1.0)
        return bounded("detach", lambda: self._parts.volumes.release(limit_s), limit_s + 5.0)

    def _report(self) -> DrainReport:
        return DrainReport(
            self._notice.kind,
            self._notice.reason,
            self._at,
            self._clock.now() - self._began,
            self._budget_s,
            self._saved,
            self._parts.job is not None,
            tuple(self._steps),
        )


def _newest(saved: Saved | None) -> str:
    if saved is None:
        return "no checkpoint is known"
    return f"{saved.checkpoint}, " + ("the last step is in it" if saved.whole else "later steps are lost")
