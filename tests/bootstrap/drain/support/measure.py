"""One drain, measured from outside: from the notice to the last word of the job, the unmount, and the end."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.bootstrap.drain.support.ground import GaveUp, Ground, Life, until

How = Literal["planned", "spot"]
MACHINE_GONE = -9


@dataclass
class Drained:
    """Seconds since the notice stood in the metadata service, None for what never came.

    `outcome`: the job's last word, durable when it appears. `unmounted`: the volume is in no mount table of
    the node. `gone`: the agent has ended, with `code`, or EC2 has ended the machine under it (-9), as it does
    once the hook is told. `resumed`, `step`: of the checkpoint that this node went on from, and of its
    newest one. `steps`: what the agent itself measured.
    """

    how: How
    outcome: float | None = None
    unmounted: float | None = None
    gone: float = 0.0
    code: int = -1
    resumed: int = 0
    step: int = 0
    checkpoint: str = ""
    saved: bool = False
    steps: dict[str, float] = field(default_factory=dict)
    not_done: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class _Look:
    """Looks at a node from outside every 5 ms until the agent has ended."""

    def __init__(self, life: Life, began: float) -> None:
        self.life, self.began = life, began
        self.outcome: dict[str, Any] | None = None
        self.unmounted: float | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stopped.wait(0.005):
            self.outcome = self.outcome or self.life.job_file("outcome.json")
            if self.unmounted is None and not self.life.mounted():
                self.unmounted = time.time() - self.began

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()


def give_notice(ground: Ground, life: Life, how: How, spot_s: float = 120) -> float:
    """The notice stands; unix seconds. A planned end is the group's, a spot end is EC2's."""
    if how == "planned":
        ground.resize(0)
        began = time.time()
        life.node.imds.target_lifecycle_state = "Terminated"
    else:
        began = time.time()
        life.node.imds.notice_spot(after_s=spot_s)
    return began


def drain(ground: Ground, life: Life, how: How, spot_s: float = 120) -> Drained:
    """Notice, end, and what came of it. The node is gone then, and its group is empty."""
    resumed = life.resumed()
    began = give_notice(ground, life, how, spot_s)
    look = _Look(life, began)
    try:
        code = life.process.wait(spot_s + 60)
    finally:
        look.stop()
    gone = time.time() - began
    told = look.outcome or {}
    newest = str((told or life.job_file("progress.json") or {}).get("checkpoint") or "")
    found = Drained(
        how,
        told["at"] - began if told else None,
        look.unmounted,
        gone,
        code,
        resumed,
        int(newest.rpartition("-")[2] or 0),
        newest,
        bool(told.get("saved")),
    )
    _recorded(ground, life, found)
    life.node.kill()
    ground.resize(0)
    _gone(ground, life)
    return found


def _recorded(ground: Ground, life: Life, found: Drained) -> None:
    record = ground.record(life.node, "drain.json")
    if record is None:
        found.problems.append("no drain record")
        return
    found.steps = {each["name"]: each["seconds"] for each in record["steps"]}
    found.not_done = [each["name"] for each in record["steps"] if not each["done"]]


def _gone(ground: Ground, life: Life) -> None:
    """EC2 has taken the instance; the group has no member, and nobody has the volume."""
    for each in ground.members():
        scaling = ground.client("autoscaling")
        if each["LifecycleState"].startswith("Terminating"):
            scaling.complete_lifecycle_action(
                LifecycleHookName="drain",
                AutoScalingGroupName=life.ground.manifest().group_name,
                InstanceId=each["InstanceId"],
                LifecycleActionResult="CONTINUE",
            )
    until("the group is empty", lambda: not ground.members(), 20)
    until("the volume is free", lambda: ground.holder() is None, 20)


def judge(found: Drained, before: Drained | None, *, stuck: bool = False) -> None:
    """Add to `problems` what isn't as it must be. `before`: the last drain that was saved."""
    if found.code not in (0, MACHINE_GONE):
        found.problems.append(f"the agent ended with {found.code}")
    if found.unmounted is None or found.unmounted > found.gone:
        found.problems.append("the volume was still mounted when the agent ended")
    if before is not None and found.resumed != before.step:
        found.problems.append(f"went on from step {found.resumed}, saved was {before.step}")
    wrong = sorted(set(found.not_done) - ({"job"} if stuck else set()))
    if wrong:
        found.problems.append(f"not done: {', '.join(wrong)}")
    if not stuck and not found.saved:
        found.problems.append("the last step wasn't saved")
    if stuck and found.outcome is not None:
        found.problems.append("a stuck worker said something")


__all__ = ["Drained", "GaveUp", "drain", "give_notice", "judge"]
