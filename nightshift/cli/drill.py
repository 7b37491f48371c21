"""A scratch volume made of a snapshot, looked at and deleted: that AWS can do it, and how long it takes.

It bears the site's tag, so that it shows in the bill and may be deleted by those who may delete the site's
volumes, and no volume's name: neither the program nor a node takes it for one of the site's.
"""

from __future__ import annotations

import math
import os
import socket
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from nightshift.catalog.prices import unit_price
from nightshift.cli import tagged
from nightshift.cli.errors import CliError
from nightshift.cli.failures import from_aws, passing
from nightshift.cli.interrupts import answered_first, like_ctrl_c, undisturbed
from nightshift.plan import names

if TYPE_CHECKING:
    from nightshift.cli.restoring import Snapshot
    from nightshift.settings.models import Stack

TAG_DRILL = "nightshift:drill"
PATIENCE_S = 900.0
DELETING_S = 120.0
POLL_S = 2.0
SETTLE_S = 20.0
"""How long a volume is looked for whose making wasn't answered: EC2 shows one a few seconds later."""
SAY_S = 10.0
LEFT_OVER = timedelta(hours=1)
"""A drill gives up long before."""
LEAST_BILLED_S = 60.0
_MONTH_S = 730 * 3600
"""AWS bills GiB-months by the second, a minute at least (EBS pricing)."""
_GONE = ("deleting", "deleted")
_NOT_YET = ("IncorrectState", "VolumeInUse")


@dataclass(frozen=True)
class Outcome:
    """What the scratch volume was; `wrong` lists what should have been otherwise."""

    volume: str
    seconds: float
    usd: Decimal
    wrong: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Clock:
    """Time as a drill has it; tests give their own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


@dataclass
class Drill:
    """One drill of one site. `owner` names this process on this machine, `token` its one volume to AWS.

    `unheard`: a volume was asked for, and whether AWS made one isn't known.
    """

    ec2: Any
    stack: Stack
    say: Callable[[str], None]
    clock: Clock = field(default_factory=Clock)
    owner: str = field(default_factory=lambda: f"{socket.gethostname()}.{os.getpid()}")
    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    unheard: bool = False

    def run(self, volume: str, snapshot: Snapshot, now: datetime) -> Outcome:
        """Make it, look at it, delete it whatever happens. Raises CliError."""
        with like_ctrl_c():
            return self._run(volume, snapshot, now)

    def _run(self, volume: str, snapshot: Snapshot, now: datetime) -> Outcome:
        removed = self.sweep(now)
        began = self.clock.now()
        made: list[str] = []
        try:
            with answered_first(lambda: self.say("ends as soon as AWS has answered; again ends now")):
                made.append(self._make(volume, snapshot))
            found = self._available(made[0], began)
            seconds = self.clock.now() - began
        finally:
            with undisturbed():
                self._clean(made)
        lived = self.clock.now() - began
        wrong = tuple(_wrong(found, snapshot, self.stack.site.zone))
        return Outcome(made[0], seconds, self._usd(snapshot.size_gib, lived), wrong, tuple(removed))

    def sweep(self, now: datetime) -> list[str]:
        """Delete what earlier drills left: of this machine when their process is gone, else an hour old."""
        removed = []
        for raw in self._scratch():
            owner = tagged.tags_of(raw)[TAG_DRILL]
            if raw["State"] in _GONE or not _left_over(owner, self.owner, raw["CreateTime"], now):
                continue
            self.say(f"{raw['VolumeId']} is left of an earlier drill ({owner}): deleted")
            self._delete(str(raw["VolumeId"]))
            removed.append(str(raw["VolumeId"]))
        return removed

    def _scratch(self, owner: str | None = None) -> list[Mapping[str, Any]]:
        """The site's scratch volumes, all or one process's, by their tags to the letter."""
        wanted = {names.TAG_SITE: self.stack.name, **({TAG_DRILL: owner} if owner else {})}
        filters = [*tagged.filters(wanted), {"Name": "tag-key", "Values": [TAG_DRILL]}]
        pages = self.ec2.get_paginator("describe_volumes").paginate(Filters=filters)
        found = [raw for page in pages for raw in page["Volumes"]]
        return [raw for raw in found if tagged.bears(raw, wanted) and TAG_DRILL in tagged.tags_of(raw)]

    def _make(self, volume: str, snapshot: Snapshot) -> str:
        site, part = self.stack.site, f"drill-{volume}"
        tags = names.common_tags(self.stack.name, part, site.owner, f"nightshift-{self.stack.name}-{part}")
        pairs = [{"Key": key, "Value": value} for key, value in {**tags, TAG_DRILL: self.owner}.items()]
        self.unheard = True
        try:
            answer = self.ec2.create_volume(
                AvailabilityZone=site.zone,
                SnapshotId=snapshot.id,
                VolumeType="gp3",
                Encrypted=True,
                ClientToken=self.token,
                TagSpecifications=[{"ResourceType": "volume", "Tags": pairs}],
            )
        except self.ec2.exceptions.ClientError as error:
            self.unheard = passing(error) is not None
            raise
        self.unheard = False
        self.say(f"{answer['VolumeId']}: being made of {snapshot.id} in {site.zone}")
        return str(answer["VolumeId"])

    def _available(self, volume: str, began: float) -> Mapping[str, Any]:
        said = began
        while True:
            raw = self._look(volume)
            state = str(raw["State"]) if raw else "creating"
            if raw and state == "available":
                return raw
            spent = self.clock.now() - began
            if state != "creating":
                raise CliError(f"{volume} became {state}: may this account use the snapshot's key (KMS)?")
            if spent > PATIENCE_S:
                raise CliError(f"{volume} is still being made after {spent / 60:.0f} min: given up")
            if self.clock.now() - said >= SAY_S:
                said = self.clock.now()
                self.say(f"{volume}: {state}, {spent:.0f} s")
            self.clock.sleep(POLL_S)

    def _look(self, volume: str) -> Mapping[str, Any] | None:
        """None where it isn't, or can't be seen yet: EC2 shows a new volume to everybody a little later."""
        try:
            return self.ec2.describe_volumes(VolumeIds=[volume])["Volumes"][0]
        except self.ec2.exceptions.ClientError as error:
            if error.response["Error"]["Code"] != "InvalidVolume.NotFound":
                raise
            return None

    def _clean(self, made: list[str]) -> None:
        """Delete what this drill made, also what it didn't hear of any more. Raises CliError with the ids."""
        left = set(made)
        try:
            left |= self._own()
        except Exception as error:
            known = from_aws(error)
            if known is None:
                raise
            if self.unheard:
                raise CliError(
                    "it isn't known whether a scratch volume is left, which would cost until it is deleted: "
                    f"look for one with the tag {TAG_DRILL}={self.owner}, or repeat the drill, which does",
                    *known.lines,
                ) from error
        for volume in sorted(left):
            self._delete(volume)

    def _own(self) -> set[str]:
        """This process's scratch volumes; one not heard of is waited for."""
        until = self.clock.now() + SETTLE_S
        if self.unheard:
            self.say(f"looking for a scratch volume that AWS may have made, {SETTLE_S:.0f} s at most")
        while True:
            found = {str(raw["VolumeId"]) for raw in self._scratch(self.owner) if raw["State"] not in _GONE}
            if found or not self.unheard or self.clock.now() > until:
                return found
            self.clock.sleep(POLL_S)

    def _delete(self, volume: str) -> None:
        """A volume can't be deleted while it's being made, so it is tried for a while. Raises CliError."""
        until = self.clock.now() + DELETING_S
        while True:
            try:
                self.ec2.delete_volume(VolumeId=volume)
                return
            except Exception as error:
                known, code = from_aws(error), _code(error)
                if code == "InvalidVolume.NotFound":
                    return
                if known is None:
                    raise
                if self.clock.now() > until or not (code in _NOT_YET or passing(error)):
                    raise CliError(
                        f"scratch volume {volume} is left and costs until it is deleted",
                        *known.lines,
                        f"aws ec2 delete-volume --region {self.stack.region} --volume-id {volume}",
                    ) from error
            self.clock.sleep(POLL_S)

    def _usd(self, size_gib: int, seconds: float) -> Decimal:
        share = Decimal(max(LEAST_BILLED_S, seconds)) / _MONTH_S
        return unit_price("gp3-gib", self.stack.region).usd * size_gib * share


def cents(usd: Decimal) -> str:
    """Rounded up, so that nothing is called free that isn't."""
    whole = math.ceil(usd * 100)
    return "less than a cent" if whole <= 1 else f"{whole} cents"


def _code(error: Exception) -> str:
    """AWS's error code; empty for anything else."""
    response = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""


def _left_over(owner: str, mine: str, made: datetime, now: datetime) -> bool:
    host, _, pid = owner.rpartition(".")
    if host == mine.rpartition(".")[0] and pid.isdecimal() and not _runs(int(pid)):
        return True
    return now - made > LEFT_OVER


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _wrong(raw: Mapping[str, Any], snapshot: Snapshot, zone: str) -> Iterator[str]:
    """What AWS shows of the volume and should show otherwise."""
    if int(raw["Size"]) != snapshot.size_gib:
        yield f"it has {raw['Size']} GiB, the snapshot {snapshot.size_gib}"
    if not raw.get("Encrypted"):
        yield "it isn't encrypted"
    if raw.get("SnapshotId") != snapshot.id:
        yield f"it is of {raw.get('SnapshotId') or 'no snapshot'}"
    if raw["AvailabilityZone"] != zone:
        yield f"it is in {raw['AvailabilityZone']}, not in {zone}"
