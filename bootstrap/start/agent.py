"""The agent: one boot from end to end, then the node's time, then its drain. Restarted, it finds what stands.

What a restarted one needs is in the mount table, in the metadata service, in the job's folder and in the data
bucket; of its own it keeps the manifest that this boot has read, and that a job was lost. Everything it does
may be done again.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from datetime import datetime, timezone
from types import FrameType

from bootstrap.aws import AwsError
from bootstrap.drain.budget import STOP_S
from bootstrap.drain.path import Drain, Job, Parts
from bootstrap.drain.report import Saved
from bootstrap.launch.folders import run_id
from bootstrap.lifecycle.aws_clock import AwsClock, since_boot
from bootstrap.lifecycle.completion import tell
from bootstrap.lifecycle.conclude import Concluded, conclude
from bootstrap.lifecycle.heartbeats import Heartbeats
from bootstrap.lifecycle.hours import Meter
from bootstrap.lifecycle.metadata import Metadata
from bootstrap.lifecycle.notice import OWN, Interrupted, Notice
from bootstrap.lifecycle.run_record import RunKeeper
from bootstrap.lifecycle.standing import Standing
from bootstrap.lifecycle.watch import Asks, Watcher
from bootstrap.manifest import BootManifest, ManifestError
from bootstrap.readiness.verdict import Verdict
from bootstrap.start.boot import Beat, examine, needed, read_manifest
from bootstrap.start.install import GIVEN_UP
from bootstrap.start.node import Node
from bootstrap.start.rooms import Rooms
from bootstrap.start.stay import Stay
from bootstrap.storage.waiting import Deadline
from nightshift.plan.names import HOOK_DRAIN
from nightshift.records.drain import DrainRecord
from nightshift.records.model import ReadinessRecord
from nightshift.records.store import Records

DONE, AGAIN = 0, 1
"""Exit codes: the unit starts the agent again after AGAIN, and after neither DONE nor GIVEN_UP."""
LEAVE_S, GIVE_BACK_S = 30.0, 60.0
RECORD_S, PAUSE_S = 90.0, 3.0
"""A boot of minutes isn't given up for an outage of seconds at its end."""
_DRAIN_LATE_S = 120.0


class Agent:
    """One node's agent. `rooms` makes the rooms for a manifest."""

    def __init__(
        self, node: Node, rooms: Callable[[BootManifest], Rooms], metadata: Asks | None = None
    ) -> None:
        self._node, self._make = node, rooms
        self._metadata = metadata or Metadata()
        self._records = Records(node.aws.client("s3"), node.config.data_bucket, listed=True)
        self._clock = AwsClock(node.aws.time)
        self._began = since_boot()
        self._stay: Stay | None = None
        self._at_risk = False

    def run(self) -> int:
        """The exit code. Raises AwsError when the hook of a launch can't be told: worth another try."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stopped)
        node = self._node
        watcher = Watcher(self._metadata, node.aws, node.inbox, node.say, self._risk, node.edges.poll_s)
        watcher.start()
        try:
            return self._run()
        finally:
            watcher.stop()

    def _stopped(self, number: int, _frame: FrameType | None) -> None:
        until = self._node.clock.now() + STOP_S
        self._node.inbox.put(Notice("stop", f"the agent got {signal.Signals(number).name}", until))

    def _risk(self) -> None:
        self._at_risk = True
        if self._stay is not None:
            self._stay.risk()

    def _run(self) -> int:
        try:
            manifest = read_manifest(self._node)
        except Interrupted:
            code = self._told_launch("ABANDON", DONE)
            told = tell(self._node.aws.complete_drain, LEAVE_S, self._node.clock)
            return code if told.heard else AGAIN
        except (ManifestError, *AwsError) as error:
            return self._refuse(Verdict(False, "manifest", str(error)), None)
        rooms = self._make(manifest)
        run = run_id(manifest.group, manifest.job) if manifest.job else ""
        keeper = RunKeeper(self._records, manifest.group, run) if run else None
        try:
            return self._live(manifest, rooms, keeper)
        except Interrupted as error:
            return self._leave_boot(manifest, rooms, error.notice)

    def _live(self, manifest: BootManifest, rooms: Rooms, keeper: RunKeeper | None) -> int:
        """Raises Interrupted before the node is in service."""
        node = self._node
        node.inbox.check()
        standing = Standing(manifest, self._records, self._clock, node.say)
        with Heartbeats(node.aws.beat, node.config.hook, float(manifest.boot_s), node.say):
            need = needed(node, manifest, standing, self._records)
            if need.notice is not None:
                node.inbox.put(need.notice)
            node.inbox.check()
            verdict, python = examine(node, rooms, Beat(node, float(manifest.boot_s)))
        if not verdict.ready or python is None:
            return self._refuse(verdict, rooms)
        concluded = self._concluded(verdict)
        if not concluded.ready:
            self._give_back(rooms)
            return self._gone(concluded)
        stay = Stay(node, manifest, rooms, standing, self._clock, keeper, self._meter(manifest, rooms))
        self._stay = stay
        if self._at_risk:
            stay.risk()
        stay.run(python, run_done=need.run_done)
        return self._drain(manifest, rooms, stay.job, keeper)

    def _meter(self, manifest: BootManifest, rooms: Rooms) -> Meter | None:
        since, gpus = self._clock.at(self._began), rooms.gpus()
        if since is None or gpus <= 0:
            return None
        return Meter(self._records, manifest.group, self._node.instance.id, gpus, since)

    def _concluded(self, verdict: Verdict) -> Concluded:
        node = self._node

        def write(record: ReadinessRecord) -> None:
            deadline = Deadline(RECORD_S, node.clock)
            while True:
                try:
                    return self._records.write_readiness(node.aws.user_id(), record)
                except AwsError as error:
                    if deadline.passed:
                        raise
                    node.say(f"the readiness record can't be written yet: {error}")
                    node.clock.sleep(PAUSE_S)

        now = datetime.now(timezone.utc)
        return conclude(verdict, node.instance.id, node.config.group, now, node.aws, write)

    def _refuse(self, verdict: Verdict, rooms: Rooms | None) -> int:
        """Not ready: volumes given back, then said. Raises AwsError when the hook can't be told."""
        self._node.say(f"not ready: {verdict.says}")
        if rooms is not None:
            self._give_back(rooms)
        return self._gone(self._concluded(verdict))

    def _give_back(self, rooms: Rooms) -> None:
        for let in (rooms.volumes.unmount(GIVE_BACK_S), rooms.volumes.release(GIVE_BACK_S)):
            self._node.say(f"volumes: {let.says}")

    def _gone(self, concluded: Concluded) -> int:
        """A launch that nobody waits for is a node in service, which would stay there doing nothing."""
        if concluded.waited:
            return GIVEN_UP
        node = self._node
        told = tell(lambda: node.aws.end_itself(replaced=True), LEAVE_S, node.clock)
        node.say(f"ended itself, to be replaced: {told.says}")
        return GIVEN_UP if told.heard else AGAIN

    def _leave_boot(self, manifest: BootManifest, rooms: Rooms, notice: Notice) -> int:
        """A notice during the boot. Who ends by its own decision is no failed launch."""
        rooms.end_left_over()
        if notice.kind not in OWN:
            code = self._drain(manifest, rooms, None, None)
            return self._told_launch("ABANDON", code)
        code = self._told_launch("CONTINUE", DONE)
        return max(code, self._drain(manifest, rooms, None, None))

    def _told_launch(self, result: str, code: int) -> int:
        told = tell(lambda: self._node.aws.complete_launch(result), LEAVE_S, self._node.clock)
        self._node.say(f"launch {result}: {told.says}")
        return code if told.heard else AGAIN

    def _drain(self, manifest: BootManifest, rooms: Rooms, job: Job | None, keeper: RunKeeper | None) -> int:
        node = self._node
        cause = node.inbox.cause
        assert cause is not None, "a drain has a cause"
        left = self._left(cause)
        limit_s = manifest.drain_s + _DRAIN_LATE_S
        with Heartbeats(node.aws.beat, HOOK_DRAIN, limit_s, node.say):
            parts = self._parts(rooms, job, keeper)
            report = Drain(parts, node.inbox, float(manifest.drain_s), node.say).run()
        rooms.close()
        hook = next(step for step in report.steps if step.name == "hook")
        missed = ", ".join(step.name for step in report.left)
        node.say(f"drained in {report.seconds:.1f} s: {f'not done: {missed}' if missed else 'all done'}")
        return DONE if left and hook.done and cause.kind != "again" else AGAIN

    def _left(self, cause: Notice) -> bool:
        """Whether the group knows that this node goes: its own decisions are told first, so that a drain
        that hangs still ends with the hook."""
        if cause.kind not in OWN:
            return True
        node = self._node
        told = tell(lambda: node.aws.end_itself(replaced=False), LEAVE_S, node.clock)
        node.say(f"the group goes without this node: {told.says}")
        return told.heard

    def _parts(self, rooms: Rooms, job: Job | None, keeper: RunKeeper | None) -> Parts:
        node = self._node

        def write_run(saved: Saved) -> None:
            if keeper is not None:
                keeper.note(saved)

        def write_drain(record: DrainRecord) -> None:
            self._records.write_drain(node.aws.user_id(), record)

        return Parts(
            job=job,
            volumes=rooms.volumes,
            saved=lambda ended: rooms.saved(job, ended),
            write_run=write_run,
            write_drain=write_drain,
            complete=node.aws.complete_drain,
            node=node.instance.id,
            group=node.config.group,
            clock=node.clock,
            people=rooms.people,
        )
