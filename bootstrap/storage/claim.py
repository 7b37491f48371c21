"""Takes the volumes: AttachVolume is the lock. Waits for the old node's drain; nothing is ever forced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bootstrap.aws import AwsError, refusal
from bootstrap.manifest import BootVolume
from bootstrap.storage.order import LiveVolume, Move, claim_order, decide, free_device, judge_refusal
from bootstrap.storage.outcome import Step, StorageError
from bootstrap.storage.place import Place
from bootstrap.storage.waiting import Deadline


class VolumeAws(Protocol):
    """What storage asks of AWS; each is one call. Refusals raise one of AwsError."""

    def site_volumes(self, volumes: Sequence[str]) -> list[LiveVolume]:
        """The site's volumes of these names."""

    def taken_devices(self) -> set[str]:
        """Device names that this instance uses."""

    def attach_volume(self, volume_id: str, device: str) -> None:
        """Begin to attach."""

    def detach_volume(self, volume_id: str) -> None:
        """Begin to detach, never by force."""


@dataclass(frozen=True)
class Claimed:
    """A volume that this node holds."""

    wish: BootVolume
    volume: LiveVolume
    step: Step


@dataclass(frozen=True)
class Claims:
    """All of them, or those held when `problem` arose; the caller lets go."""

    held: tuple[Claimed, ...]
    problem: StorageError | None


def claim_all(wishes: Sequence[BootVolume], aws: VolumeAws, place: Place) -> Claims:
    """Claim every volume in the global order; stops at the first that can't be had."""
    held: list[Claimed] = []
    for wish in claim_order(wishes):
        try:
            held.append(_Claim(wish, aws, place).take())
        except StorageError as problem:
            return Claims(tuple(held), problem)
    return Claims(tuple(held), None)


class _Claim:
    """One volume's claim with its three deadlines: the claim's, the attachment's, and that of denials."""

    def __init__(self, wish: BootVolume, aws: VolumeAws, place: Place) -> None:
        self._wish, self._aws, self._place = wish, aws, place
        self._whole = Deadline(place.waits.claim_s, place.clock)
        self._denied = Deadline(place.waits.denied_s, place.clock)
        self._coming: Deadline | None = None
        self._waited_for = ""

    def take(self) -> Claimed:
        """Raises StorageError when it's refused for good or a deadline passes."""
        while True:
            move = self._look()
            if move.kind == "have" and move.volume is not None:
                return self._claimed(move.volume)
            if move.kind == "refuse":
                raise self._error("one volume of this site in this zone", move.says)
            asked = move.kind == "attach" and self._attach(move)
            if not asked:
                self._check(move)
            self._place.heartbeat(f"volume {self._wish.name}: {move.says}")
            self._place.clock.sleep(0 if asked else self._place.waits.poll_s)

    def _claimed(self, volume: LiveVolume) -> Claimed:
        says = f"{volume.id} attached" + (f" after a wait: {self._waited_for}" if self._waited_for else "")
        return Claimed(self._wish, volume, Step("claim", self._whole.seconds, says))

    def _look(self) -> Move:
        try:
            live = self._aws.site_volumes([self._wish.name])
        except AwsError as error:
            self._judge(error, "DescribeVolumes")
            return Move("wait", f"EC2 does not describe it: {error}")
        return decide(self._wish, live, self._place.instance, self._place.zone)

    def _attach(self, move: Move) -> bool:
        """Whether AWS took the order. A lost race only means another look."""
        assert move.volume is not None
        try:
            device = free_device(self._aws.taken_devices())
            if device is None:
                raise self._error("a free device name, /dev/sdf to /dev/sdp", "all eleven in use")
            self._aws.attach_volume(move.volume.id, device)
        except AwsError as error:
            self._judge(error, "AttachVolume")
            return False
        return True

    def _judge(self, error: Exception, call: str) -> None:
        code, message = refusal(error)
        answer = judge_refusal(code, message)
        if answer == "fatal" or (answer == "denied" and self._denied.passed):
            raise self._error(f"{call} to be allowed", f"{code}: {message}") from error

    def _check(self, move: Move) -> None:
        waits = self._place.waits
        if move.kind == "wait":
            self._waited_for = move.says
        if move.kind == "coming":
            self._coming = self._coming or Deadline(waits.attach_s, self._place.clock)
            if self._coming.passed:
                raise self._error(f"attached within {waits.attach_s:g} s", move.says)
        elif self._whole.passed:
            raise self._error(f"to be free within {waits.claim_s:g} s", move.says)

    def _error(self, expected: str, found: str) -> StorageError:
        remedy = (
            "`nightshift status` shows who holds it; end that node, it drains and lets go. "
            "Never detach by force: that costs data"
        )
        return StorageError(self._wish.name, expected, found, remedy)
