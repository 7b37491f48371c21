"""Watches one node's part of a job: launches each generation here, judges how it ended, tells the group."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bootstrap.launch.cage import Cages, CgroupCage
from bootstrap.launch.command import Rendezvous, Script, job_environment, torchrun_arguments
from bootstrap.launch.coordination import Coordinator
from bootstrap.launch.edges import Ended, JobEdges
from bootstrap.launch.generations import react
from bootstrap.launch.job_folder import JobFolder, Progress
from bootstrap.launch.launched import Launch
from bootstrap.launch.lease import Lease
from bootstrap.launch.logs import throw_away
from bootstrap.launch.torchrun import Order, Server, Torchrun, cold
from bootstrap.launch.watching import Verdict, judge, stuck
from bootstrap.launch.workers import terminate

TICK_S = 0.2


@dataclass(frozen=True)
class Plan:
    """What every launch of this job has in common."""

    run: str
    script: Script
    folder: Path
    python: Path
    gpus: int
    base: Mapping[str, str]
    secrets: Mapping[str, str] = field(repr=False)
    drain_s: float


@dataclass(frozen=True)
class Asked:
    """A drain of this node; `by`: unix s, None for the group's drain time from `at` (monotonic)."""

    reason: str
    by: float | None
    at: float


class Supervisor:
    """`turn` is called again and again, by one thread; `ask` by any."""

    def __init__(
        self,
        edges: JobEdges,
        folder: JobFolder,
        cages: Cages,
        coordinator: Coordinator,
        say: Callable[[str], None],
    ) -> None:
        self._edges = edges
        self._waits = edges.waits
        self._folder = folder
        self._cages = cages
        self._group = coordinator
        self._say = say
        self._listen = edges.log.listen if edges.log else throw_away
        self._lock = threading.Lock()
        self._launch: Launch | None = None
        self._server: Server | None = None
        self._warm = isinstance(cages.whole, CgroupCage)
        self._barren = 0
        self._usual_s: float | None = None
        self._stepped = 0
        self._ready_at = edges.now()
        self._over_at: float | None = None
        self.asked: Asked | None = None
        self.newest: Progress | None = None

    def ask(self, reason: str, by: float | None) -> None:
        """This node ends; again: only sooner. The job hears of it before this returns."""
        with self._lock:
            before = self.asked
            dates = [each for each in (by, before.by if before else None) if each is not None]
            at = before.at if before else self._edges.now()
            self.asked = Asked(before.reason if before else reason, min(dates, default=None), at)
            if self._launch is not None and self.asked != before:
                self._folder.ask_to_drain(self.asked.reason, self.asked.by)
        self._group.tell(leaving=True, ready=False)

    def warm_up(self, plan: Plan) -> None:
        """Have torch imported while other things are done."""
        whole = self._cages.whole
        if self._warm and isinstance(whole, CgroupCage) and not (self._server and self._server.alive):
            self._server = Server(plan.python, plan.base, whole, self._cages.new(), self._listen)

    def turn(self, plan: Plan) -> Ended | None:
        """What there is to do now; how the job ended here, once it has."""
        if self._launch is not None:
            return self._watch(self._launch, plan)
        if self.asked is not None:
            return Ended("drained", *self._at(), True, f"{self.asked.reason}: nothing ran")
        lease = self._group.lease
        if not self._group.me.ready and self._may_begin():
            self._group.tell(ready=True)
        act = react(lease, self._group.me, 0) if lease else "wait"
        if lease is not None and act == "over":
            return self._over(lease)
        if lease is not None and act == "launch":
            self._begin(lease, plan)
        return None

    def _may_begin(self) -> bool:
        """Others that train shouldn't stop and wait for this node's imports, unless these take long."""
        if self._warm and not (self._server is not None and self._server.warm):
            return self._edges.now() - self._ready_at > self._waits.warm_s
        return self._edges.now() >= self._ready_at

    def close(self) -> list[int]:
        """End all that is left. The ids of what didn't go."""
        left = self._cages.whole.kill(self._waits.kill_s)
        if self._server is not None:
            self._server.close()
        self._server = self._launch = None
        return left

    def _start(self, plan: Plan, order: Order) -> Torchrun:
        cage = self._cages.new()
        self.warm_up(plan)
        if self._warm and self._server is not None and isinstance(cage, CgroupCage):
            return self._server.begin(cage, order)
        return cold(plan.python, plan.base, cage, self._listen, order)

    def _begin(self, lease: Lease, plan: Plan) -> None:
        me = self._group.me
        meeting = Rendezvous(
            lease.id,
            len(lease.members),
            lease.address,
            lease.port,
            self._edges.ip,
            lease.leader == me.instance,
        )
        logs = self._folder.path / "torchrun"
        words = torchrun_arguments(plan.script, meeting, plan.gpus, self._waits.join_s, logs)
        contract = job_environment(self._folder.path, self._edges.checkpoints, plan.run, lease.generation)
        with self._lock:
            if self.asked is not None:
                return
            self._folder.prepare()
            torchrun = self._start(plan, Order(words, {**plan.secrets, **contract}, plan.folder))
            now = self._edges.now()
            self._launch = Launch(lease.generation, torchrun, plan.gpus, now, now, now)
        self._group.tell(ready=False, last=lease.generation, verdict=None, reason="")
        self._say(f"generation {lease.generation} launched here, node of {len(lease.members)}")

    def _watch(self, launch: Launch, plan: Plan) -> Ended | None:
        if launch.observe(self._folder, self._edges.now(), contract=self._contract()):
            self._moved(launch)
        lease = self._group.lease
        act = react(lease, self._group.me, launch.generation) if lease else "wait"
        if lease is not None and act == "end":
            self._conclude(launch, f"generation {lease.generation} takes its place")
            return self._after(None, plan)
        if act == "regroup" and launch.ending_at is None:
            self._folder.ask_to_drain("nodes join or leave the group", None)
            launch.ending_at = self._edges.now()
        if launch.outcome is None:
            self._urge(launch)
        why = self._why_now(launch, lease, plan)
        if why is None:
            return None
        return self._after(self._conclude(launch, why), plan)

    def _moved(self, launch: Launch) -> None:
        """A step was made: what was before counts no more against the run."""
        if launch.generation != self._stepped:
            self._stepped = launch.generation
            self._usual_s = max(self._usual_s or 0.0, self._edges.now() - launch.began)
        self.newest, self._barren = launch.progress, 0
        if launch.progress is not None:
            self._group.tell(step=launch.progress.step, checkpoint=launch.progress.checkpoint)

    def _contract(self) -> bool:
        """Whether this job is known to keep it: it told its steps, or its run has a folder of checkpoints."""
        return self.newest is not None or (self._edges.checkpoints / ".lock").exists()

    def _urge(self, launch: Launch) -> None:
        """A job that hasn't told any step yet, or never will, hears of a drain by signal."""
        since = self.asked.at if self.asked else launch.ending_at
        if since is None or launch.termed or launch.progress is not None:
            return
        if self._edges.now() - max(since, launch.began) >= self._waits.boot_term_s:
            launch.termed = True
            found = launch.torchrun.workers()
            terminate(found)
            if not found:
                launch.torchrun.end(self._waits.kill_s)

    def _why_now(self, launch: Launch, lease: Lease | None, plan: Plan) -> str | None:
        """The reason to end this launch here and now: empty when it ended by itself, None to wait."""
        now = self._edges.now()
        if launch.torchrun.code is not None:
            return ""
        if launch.outcome is not None and launch.outcome_at is not None:
            failed = launch.outcome.outcome == "failed"
            patience = self._waits.last_words_s if failed else self._waits.exit_s
            if now - launch.outcome_at > patience:
                return ""
        elif launch.missing_at is not None and now - launch.missing_at > self._waits.last_words_s:
            return "a worker was killed"
        if self.asked is not None and self._too_late(self.asked, plan):
            return f"{self.asked.reason}: not saved in time"
        if lease is not None and lease.state == "over" and lease.run == plan.run:
            self._over_at = self._over_at or now
            patience = self._waits.finish_s if lease.kind == "finished" else 0.0
            if now - self._over_at > patience:
                return f"the run is over: {lease.reason}"
        cut_off_s = self._group.unreached_s() if self._edges.board is not None else 0.0
        return stuck(
            launch.life(now, contract=self._contract(), cut_off_s=cut_off_s, usual_s=self._usual_s),
            self._waits,
        )

    def _too_late(self, asked: Asked, plan: Plan) -> bool:
        if asked.by is not None:
            return self._edges.wall() >= asked.by
        return self._edges.now() - asked.at >= plan.drain_s

    def _conclude(self, launch: Launch, why: str) -> Verdict:
        """End what is left of it, judge, and tell the group."""
        code = launch.torchrun.code
        left = launch.torchrun.end(self._waits.kill_s)
        if left:
            self._say(f"processes that the kernel doesn't let go of: {', '.join(map(str, left))}")
        told, outcome = self._folder.progress(), self._folder.outcome()
        launch.progress = told or launch.progress
        self.newest = launch.progress or self.newest
        asked = self.asked is not None or launch.ending_at is not None
        verdict = judge(outcome, code, why, asked, launch.step)
        with self._lock:
            self._launch = None
        step, checkpoint = self._at(verdict)
        self._group.tell(
            last=launch.generation,
            verdict=verdict.kind,
            agreed=outcome is not None,
            reason=verdict.reason,
            step=step,
            checkpoint=checkpoint,
        )
        self._say(f"generation {launch.generation} ended here: {verdict.kind}, {verdict.reason}")
        return verdict

    def _after(self, verdict: Verdict | None, plan: Plan) -> Ended | None:
        """How the job ended here, or None when there is another generation to come."""
        if verdict is not None and verdict.kind == "finished":
            return Ended("finished", *self._at(verdict), verdict.saved, verdict.reason)
        if self.asked is not None:
            saved = verdict is None or verdict.saved
            reason = verdict.reason if verdict is not None else self.asked.reason
            return Ended("drained", *self._at(verdict), saved, reason)
        if verdict is not None and verdict.kind in ("failed", "lost"):
            self._barren += 1
            self._warm = self._warm and self._barren < 2
        pause = 0.0 if self._barren < 2 else self._waits.backoff_s * 4 ** (self._barren - 2)
        self._ready_at = self._edges.now() + pause
        self.warm_up(plan)
        if self._may_begin():
            self._group.tell(ready=True)
        return None

    def _over(self, lease: Lease) -> Ended:
        step, checkpoint = self._at()
        kind = lease.kind or "lost"
        at = lease.step if lease.step is not None else step
        return Ended(kind, at, lease.checkpoint or checkpoint, kind == "finished", lease.reason)

    def _at(self, verdict: Verdict | None = None) -> tuple[int | None, str | None]:
        """Step and newest checkpoint, as far as this node knows."""
        step, checkpoint = (verdict.step, verdict.checkpoint) if verdict else (None, None)
        if self.newest is not None:
            step = self.newest.step if step is None else step
            checkpoint = checkpoint or self.newest.checkpoint
        return step, checkpoint
