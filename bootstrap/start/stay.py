"""A ready node's time: the job runs, the calendar is asked, hours are counted, until a notice comes."""

from __future__ import annotations

from pathlib import Path

from bootstrap.aws import AwsError
from bootstrap.drain.path import Ending
from bootstrap.lifecycle.aws_clock import AwsClock
from bootstrap.lifecycle.chores import Chore, Chores
from bootstrap.lifecycle.completion import tell
from bootstrap.lifecycle.hours import Meter, used_up
from bootstrap.lifecycle.idle import EVERY_S, IdleWindow
from bootstrap.lifecycle.notice import Kind, Notice
from bootstrap.lifecycle.run_record import RunKeeper
from bootstrap.lifecycle.standing import Standing
from bootstrap.manifest import BootManifest
from bootstrap.people.word import Reminder
from bootstrap.start.node import Node
from bootstrap.start.rooms import NotReady, Rooms, Training
from nightshift.records.errors import RecordsError

TURN_S = 0.2
GUARD_S, RUN_S, HOURS_S, MARK_S = 60.0, 30.0, 300.0, 60.0
LOOK_S, KEEP_S = 1.0, 10.0
"""Between looks at the notebooks, and at whether their record is still true."""
LOST = "job-lost"
AT_RISK_S = 900.0
"""Mean seconds between losses that the job is told after a rebalance recommendation: save more often."""


class Stay:
    """One ready node, from its verdict to its notice."""

    def __init__(
        self,
        node: Node,
        manifest: BootManifest,
        rooms: Rooms,
        standing: Standing,
        clock: AwsClock,
        keeper: RunKeeper | None,
        meter: Meter | None,
    ) -> None:
        self._node, self._manifest, self._rooms = node, manifest, rooms
        self._standing, self._clock, self._keeper, self._meter = standing, clock, keeper, meter
        self._window = IdleWindow(manifest.idle) if manifest.idle else None
        self._reminder = Reminder()
        self._ends_at: float | None = None
        self._at_risk = self._idle = False
        self.job: Training | None = None
        self.ended: Ending | None = None

    def run(self, python: Path, *, run_done: bool) -> None:
        """Until there is a notice; the job may still run then. Raises what breaks a chore."""
        if self._meter is not None:
            self._count(self._meter)
        if self._node.inbox.cause is None:
            self._begin(python, run_done)
            self._rooms.people.begin(python)
        with Chores(self._chores(), self._node.say) as chores, Chores(self._near(), self._node.say) as near:
            while self._node.inbox.cause is None:
                chores.check()
                near.check()
                self._poll()
                self._node.clock.sleep(TURN_S)

    def risk(self) -> None:
        """EC2 recommends to rebalance: the job is told."""
        self._at_risk = True
        self._tell_shift()

    def _begin(self, python: Path, run_done: bool) -> None:
        if self._manifest.job is None or run_done:
            self._node.say("up without a job: " + ("the run is finished" if run_done else "none is declared"))
            return
        try:
            self.job = self._rooms.begin(python)
        except NotReady as error:
            self._over("failed", f"the job can't be started: {error}; {error.finding.remedy}")
            return
        self._tell_shift()

    def _poll(self) -> None:
        if self.job is None or self.ended is not None or (ended := self.job.poll()) is None:
            return
        self.ended = ended
        self._node.say(f"the job ended: {ended.kind}: {ended.reason}")
        if ended.kind == "finished":
            self._mark(ended)
            self._over("finished", "the run is finished")
        elif ended.kind == "lost" and self._first_loss():
            self._node.inbox.put(Notice("again", f"the job was lost: {ended.reason}"))
        else:
            self._over("failed", f"the job ended as {ended.kind}: {ended.reason}")

    def _first_loss(self) -> bool:
        """Whether no job of this boot was lost before: the node is examined again once, not for ever."""
        mark = self._node.edges.run_dir / LOST
        if mark.exists():
            return False
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
        return True

    def _over(self, kind: Kind, says: str) -> None:
        """The group goes to zero, or the node stays for people where the job says so."""
        job = self._manifest.job
        if job is not None and job.when_done == "release":
            self._node.inbox.put(Notice(kind, says))
        else:
            self._node.say(f"{says}; the node stays up, as the job's when_done says")

    def _mark(self, ended: Ending) -> None:
        """The mark of a finished run; without it the next shift's job finds out by itself."""
        keeper = self._keeper
        if keeper is None:
            return
        saved = self._rooms.saved(self.job, ended)

        def write() -> bool:
            keeper.note(saved, done=True)
            return True

        try:
            told = tell(write, MARK_S, self._node.clock)
        except RecordsError as error:
            self._node.say(f"the run can't be marked as finished: {error}")
            return
        if not told.heard:
            self._node.say(f"the run can't be marked as finished: {told.says}")

    def _tell_shift(self) -> None:
        """What can't be told changes when the job saves, not what it saves."""
        if self.job is None:
            return
        try:
            self.job.set_shift(self._ends_at, AT_RISK_S if self._at_risk else None)
        except OSError as error:
            self._node.say(f"the job can't be told when its shift ends: {error}")

    def _chores(self) -> list[Chore]:
        chores = [Chore("the calendar", GUARD_S, self._guard), Chore("the run record", RUN_S, self._keep)]
        if (meter := self._meter) is not None:
            chores.append(Chore("GPU-hours", HOURS_S, lambda: self._count_now(meter)))
        if self._window is not None:
            chores.append(Chore("idle cards", EVERY_S, self._look_idle))
        if self._manifest.notebook:
            chores.append(Chore("the notebooks' record", KEEP_S, self._rooms.people.keep))
        return chores

    def _near(self) -> list[Chore]:
        """What asks nothing of AWS, so that no outage delays it."""
        return [Chore("notebooks", LOOK_S, self._rooms.people.look)] if self._manifest.notebook else []

    def _guard(self) -> None:
        word = self._standing.decided()
        if not word.stay:
            self._node.inbox.put(Notice("over", word.says))
            return
        ends_at = word.ends_at.timestamp() if word.ends_at else None
        if ends_at != self._ends_at:
            self._ends_at = ends_at
            self._node.say(word.says)
            self._tell_shift()
        if (minutes := self._reminder.due(word.ends_at, self._clock.now())) is not None:
            self._rooms.people.tell(f"{word.says}; all that runs here ends in {minutes} min, save your work")

    def _keep(self) -> None:
        if self._keeper is not None and self.job is not None and self.ended is None:
            self._keeper.note(self._rooms.saved(self.job, None))

    def _count(self, meter: Meter) -> None:
        """Before a job starts; hours that can't be counted stop nothing."""
        try:
            self._count_now(meter)
        except (RecordsError, *AwsError) as error:
            self._node.say(f"GPU-hours can't be counted: {error}")

    def _count_now(self, meter: Meter) -> None:
        now = self._clock.now()
        if now is None:
            return
        says = used_up(self._manifest.gpu_hours_monthly, meter.note(now))
        if says:
            self._node.inbox.put(Notice("cap", says))

    def _look_idle(self) -> None:
        rule, window = self._manifest.idle, self._window
        if rule is None or window is None:
            return
        idle = window.note(self._node.clock.now(), self._rooms.busiest())
        if idle == self._idle:
            return
        self._idle = idle
        minutes = f"{rule.lasting_s / 60:g} minutes"
        says = f"all cards under {rule.below_percent} % for {minutes}" if idle else "the cards work again"
        self._node.say(says)
        if idle and rule.then == "release":
            self._node.inbox.put(Notice("idle", says))
        else:
            self._node.aws.tag_itself("ready", says)
