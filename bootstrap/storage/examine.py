"""What is on a device, decided from observations alone. Whatever isn't proven blank is never formatted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

MIB = 1 << 20
RESERVE = MIB
"""The last MiB of a volume is ours: filesystems we make or grow end before it. While a format is under way
a mark stands at its beginning; its end isn't safe, since mkfs.xfs zeroes the last 128 KiB of any device."""
MARK_SIZE = 4096
_MARK_HEAD = b"nightshift: formatting, nothing stored here yet\n"
Kind = Literal["blank", "formatted", "unfinished", "foreign", "partitioned", "unknown", "unreadable"]


@dataclass(frozen=True)
class Mark:
    """Stands in the reserve from before mkfs until after it, so that a mkfs cut short is known as ours."""

    serial: str
    filesystem: str
    uuid: str


def mark_offset(size: int) -> int:
    """Where the mark stands on a device of so many bytes."""
    return size - RESERVE


def mark_bytes(mark: Mark) -> bytes:
    """The block that lies on the device."""
    return (_MARK_HEAD + json.dumps(asdict(mark), sort_keys=True).encode() + b"\n").ljust(MARK_SIZE, b"\0")


def read_mark(block: bytes) -> Mark | None:
    """The mark in a block, None when there is none or not a whole one."""
    if not block.startswith(_MARK_HEAD):
        return None
    try:
        told = json.loads(block[len(_MARK_HEAD) :].split(b"\n", 1)[0])
        mark = Mark(**told)
    except (ValueError, TypeError):
        return None
    return mark if all(isinstance(each, str) for each in asdict(mark).values()) else None


@dataclass(frozen=True)
class Observation:
    """A device as read. `size` in bytes; `expected` is EC2's size of the volume. `blkid` holds the pairs of
    a low-level probe, `blkid_code` its exit code, `blkid_words` whatever it said besides. `dirty_at` is the
    offset of the first byte that isn't zero among those probed. `error` is why reading failed, if it did."""

    size: int
    expected: int
    blkid_code: int
    blkid: Mapping[str, str] = field(default_factory=dict)
    blkid_words: str = ""
    dirty_at: int | None = None
    probed: int = 0
    mark: Mark | None = None
    error: str = ""


@dataclass(frozen=True)
class Verdict:
    """What it is, and what was seen in words."""

    kind: Kind
    says: str


def examine(seen: Observation, filesystem: str, serial: str) -> Verdict:
    """The verdict. Order matters: what can't be read is unreadable before it is anything else."""
    if seen.error or seen.size <= 0:
        return Verdict("unreadable", seen.error or f"{seen.size} bytes long")
    if seen.mark is not None:
        return _marked(seen, seen.mark, serial)
    if seen.blkid_code == 8:
        return Verdict("foreign", "signatures of more than one filesystem")
    if seen.blkid_code not in (0, 2):
        return Verdict("unreadable", f"blkid: exit code {seen.blkid_code} {seen.blkid_words}".rstrip())
    if seen.blkid_code == 0:
        return _signed(seen.blkid, filesystem)
    return _unsigned(seen)


def may_format(verdict: Verdict, declared_blank: bool) -> bool:
    """The only gate to mkfs: blank in fact, and made blank by us."""
    return verdict.kind == "blank" and declared_blank


def _marked(seen: Observation, mark: Mark, serial: str) -> Verdict:
    if mark.serial != serial:
        return Verdict("foreign", f"a format of {mark.serial} cut short, copied to this volume {serial}")
    kind, uuid = seen.blkid.get("TYPE", ""), seen.blkid.get("UUID", "")
    if seen.blkid_code not in (0, 2) or "PTTYPE" in seen.blkid or (kind and kind != mark.filesystem):
        return Verdict("foreign", f"a mark of ours, but {kind or 'something else'} on the device")
    if uuid and uuid.lower() != mark.uuid.lower():
        return Verdict("foreign", f"a mark of ours, but a {kind} with another UUID {uuid}")
    return Verdict("unfinished", f"our own mkfs.{mark.filesystem} was cut short; nothing was ever stored")


def _signed(told: Mapping[str, str], filesystem: str) -> Verdict:
    kind = told.get("TYPE", "")
    if "PTTYPE" in told:
        return Verdict(
            "partitioned", f"a {told['PTTYPE']} partition table" + (f" and {kind}" if kind else "")
        )
    if kind == filesystem and told.get("USAGE", "filesystem") == "filesystem":
        return Verdict("formatted", f"{kind} {told.get('UUID', '')}".rstrip())
    return Verdict("foreign", kind or "a signature without a type: " + ", ".join(sorted(told)))


def _unsigned(seen: Observation) -> Verdict:
    if seen.blkid or seen.blkid_words:
        return Verdict("unreadable", f"blkid found nothing but said: {seen.blkid_words or dict(seen.blkid)}")
    if seen.dirty_at is not None:
        return Verdict("unknown", f"no known signature, yet data at byte {seen.dirty_at}")
    if seen.size != seen.expected:
        return Verdict("unreadable", f"{seen.size} bytes long where EC2 says {seen.expected}")
    if seen.probed < min(seen.size, 8 * MIB):
        return Verdict("unreadable", f"only {seen.probed} bytes could be read")
    return Verdict("blank", f"{seen.probed} bytes read all over it are zero, no signature")


REMEDIES: Mapping[Kind, str] = {
    "blank": "a volume that was adopted or restored must bring its filesystem: look at its snapshot, "
    "or `nightshift retire` it and declare a new one",
    "unfinished": "the volume isn't declared as made by us: `nightshift retire` it and declare a new one",
    "foreign": "nothing was touched; name its filesystem in the stack file if it's xfs or ext4, "
    "else `nightshift retire` it (it takes a snapshot first)",
    "partitioned": "nothing was touched; copy the partition's data to a volume without partitions, "
    "or `nightshift retire` it",
    "unknown": "nothing was touched; encrypted data look like that, a foreign mkfs cut short too: "
    "attach it to a machine of yours and look, or `nightshift retire` it (it takes a snapshot first)",
    "unreadable": "nothing was touched; reboot the node, then look at the volume's status checks in EC2",
    "formatted": "",
}
"""The way out for people, by verdict."""
