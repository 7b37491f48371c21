"""One boot, up to the verdict: the manifest, whether to come up at all, the runtime, the checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bootstrap.aws import AwsError
from bootstrap.lifecycle.finish import is_done, over_at_boot
from bootstrap.lifecycle.guard import Word
from bootstrap.lifecycle.notice import Notice
from bootstrap.lifecycle.standing import Standing
from bootstrap.manifest import BootManifest, from_json
from bootstrap.readiness.verdict import Finding, Verdict, judge
from bootstrap.start.node import Node
from bootstrap.start.rooms import Heartbeat, NamedCheck, NotReady, Rooms
from bootstrap.storage.waiting import Deadline
from nightshift.records.errors import RecordsError
from nightshift.records.store import Records

DENIED_S = 120.0
"""A new role is known everywhere within two minutes."""
_PAUSE_S = 3.0
KEPT = "manifest.json"
"""In the boot's own folder, which a reboot empties."""


def read_manifest(node: Node) -> BootManifest:
    """The group's. Where it isn't answered, the one that this boot has read before: a restarted agent has a
    job to end and volumes to let go, whatever S3 does.

    Raises ManifestError, or one of AwsError when it isn't answered for two minutes; Interrupted when a notice
    has come and nothing was ever read, so that nothing can have been taken.
    """
    kept = node.edges.run_dir / KEPT
    deadline = Deadline(DENIED_S, node.clock)
    while True:
        if node.inbox.cause is not None and kept.exists():
            return from_json(kept.read_text(encoding="utf-8"))
        try:
            text = node.aws.read_manifest()
        except AwsError as error:
            if kept.exists():
                node.say(f"the boot manifest of before is used, since it can't be read: {error}")
                return from_json(kept.read_text(encoding="utf-8"))
            if deadline.passed:
                raise
            node.say(f"the boot manifest can't be read yet: {error}")
        else:
            found = from_json(text)
            _keep(kept, text)
            return found
        node.inbox.check()
        node.clock.sleep(_PAUSE_S)


def _keep(path: Path, text: str) -> None:
    """Whole or not at all. What can't be kept is read again."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError:
        path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Need:
    """`notice`: why this node needn't come up. `run_done`: it comes up, but its run has finished."""

    notice: Notice | None
    run_done: bool = False


def needed(node: Node, manifest: BootManifest, standing: Standing, records: Records) -> Need:
    """Asked before anything is taken or built.

    What can't be read is no reason to go, nor is a single odd answer.
    """
    word: Word = standing.decided()
    if standing.doubts:
        node.clock.sleep(_PAUSE_S)
        word = standing.decided()
    if not word.stay:
        return Need(Notice("over", word.says))
    try:
        run = records.run(manifest.group)
    except (RecordsError, *AwsError) as error:
        node.say(f"the run record can't be read: {error}")
        return Need(None)
    says = over_at_boot(manifest, run, standing.override)
    return Need(Notice("finished", says) if says else None, is_done(run, manifest))


class Beat:
    """The heartbeat of a boot: notes what is waited for, and ends the boot on a notice or when its time is
    over. `limit_s` is the group's `boot`."""

    def __init__(self, node: Node, limit_s: float) -> None:
        self._node = node
        self._deadline = Deadline(limit_s, node.clock)
        self._says = ""

    def __call__(self, says: str) -> None:
        """Raises Interrupted, or NotReady after the limit."""
        if says and says != self._says:
            self._node.say(says)
            self._says = says
        self._node.inbox.check()
        if self._deadline.passed:
            limit = f"ready within {self._deadline.limit / 60:g} minutes"
            finding = Finding("boot.time", False, limit, f"still: {says}", "raise the group's `boot`")
            raise NotReady(finding)


def examine(node: Node, rooms: Rooms, beat: Heartbeat) -> tuple[Verdict, Path | None]:
    """Everything that proves this node, and the runtime's interpreter. Raises Interrupted."""
    try:
        rooms.end_left_over()
        python = rooms.prepare(beat)
        findings = _findings(node, rooms.checks(python, beat), beat)
    except NotReady as error:
        return judge([error.finding]), None
    return judge(findings), python


def _findings(node: Node, checks: Sequence[NamedCheck], beat: Heartbeat) -> list[Finding]:
    found: list[Finding] = []
    for check in checks:
        beat("")
        found.append(check.run())
        if not found[-1].passed:
            node.say(f"check {check.name} failed: {found[-1].found}")
    return found
