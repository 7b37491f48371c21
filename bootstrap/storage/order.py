"""Which volume to take next, decided from one look at AWS. Plain values in, plain values out.

All nodes of all groups take volumes in one order, by name. Who waits for a volume holds only earlier ones,
so no two can wait for each other.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from bootstrap.manifest import BootVolume

DEVICE_NAMES = tuple(f"/dev/sd{letter}" for letter in "fghijklmnop")
"""What EC2 recommends for data volumes (EC2 User Guide, device names). The kernel's names are others."""


@dataclass(frozen=True)
class LiveVolume:
    """A volume as EC2 describes it. `index` only in pools; `holder` and `holding` (attaching, attached,
    busy, detaching) are empty when nobody has it, `snapshot` when it was made from none."""

    id: str
    name: str
    index: int | None
    size_gib: int
    zone: str
    state: str
    holder: str = ""
    holding: str = ""
    snapshot: str = ""

    @property
    def serial(self) -> str:
        """The device's serial number: the id without its dash (EBS User Guide, NVMe)."""
        return self.id.replace("-", "")


@dataclass(frozen=True)
class Move:
    """What to do now about one volume, and why in words."""

    kind: Literal["have", "coming", "attach", "wait", "refuse"]
    says: str
    volume: LiveVolume | None = None


def claim_order(volumes: Sequence[BootVolume]) -> tuple[BootVolume, ...]:
    """The one global order."""
    return tuple(sorted(volumes, key=lambda each: each.name))


def decide(wish: BootVolume, live: Sequence[LiveVolume], instance: str, zone: str) -> Move:
    """The next move towards `wish`; `live` holds the site's volumes, more names than this one do no harm."""
    named = sorted((each for each in live if each.name == wish.name), key=lambda each: each.index or 0)
    fitting = [each for each in named if (each.index is not None) == (wish.per == "node")]
    if problem := _problem(wish, named, fitting, zone):
        return Move("refuse", problem)
    mine = next((each for each in fitting if each.holder == instance), None)
    if mine is not None:
        return _held(mine)
    free = next((each for each in fitting if each.state == "available"), None)
    if free is not None:
        return Move("attach", f"{free.id} is free", free)
    return _taken(fitting)


def _problem(
    wish: BootVolume, named: Sequence[LiveVolume], fitting: Sequence[LiveVolume], zone: str
) -> str | None:
    if not fitting:
        there = ", ".join(each.id for each in named)
        kind = "pool volume" if wish.per == "node" else "volume"
        return f"no {kind} of that name in this site" + (
            f" (only {there}, of the other kind)" if there else ""
        )
    if wish.per == "site" and len(fitting) > 1:
        return "several volumes of one name: " + ", ".join(each.id for each in fitting)
    elsewhere = [f"{each.id} in {each.zone}" for each in fitting if each.zone != zone]
    return f"{', '.join(elsewhere)}; this node is in {zone}" if elsewhere else None


def _held(mine: LiveVolume) -> Move:
    if mine.holding in ("attached", "busy"):
        return Move("have", f"{mine.id} is attached to this node", mine)
    kind = "coming" if mine.holding == "attaching" else "wait"
    return Move(kind, f"{mine.id} is {mine.holding or mine.state} here", mine)


def _taken(fitting: Sequence[LiveVolume]) -> Move:
    waits = [each for each in fitting if each.state in ("in-use", "creating")]
    if waits:
        words = (
            f"{each.id} held by {each.holder}" if each.holder else f"{each.id} is {each.state}"
            for each in waits
        )
        return Move("wait", ", ".join(words), waits[0])
    return Move("refuse", ", ".join(f"{each.id} is {each.state}" for each in fitting))


def free_device(taken: Collection[str]) -> str | None:
    """The first recommended device name that this instance doesn't use yet."""
    return next((name for name in DEVICE_NAMES if name not in taken), None)


Answer = Literal["look-again", "denied", "fatal"]
_LOOK_AGAIN = (
    "VolumeInUse",
    "IncorrectState",
    "IncorrectInstanceState",
    "RequestLimitExceeded",
    "Throttling",
    "InternalError",
    "Unavailable",
    "ServiceUnavailable",
)
_DENIED = ("UnauthorizedOperation", "AccessDenied", "AuthFailure")


def judge_refusal(code: str, message: str) -> Answer:
    """Whether a refused AttachVolume or DetachVolume is worth another look. Unknown codes are fatal.

    An empty code is a network that didn't answer: the call may have been carried out, so look.
    """
    if not code or code in _LOOK_AGAIN or (code == "InvalidParameterValue" and "already in use" in message):
        return "look-again"
    return "denied" if code in _DENIED else "fatal"
