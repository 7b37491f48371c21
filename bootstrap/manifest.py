"""The boot manifest: all that a node must know of its group, written by the program, read on every boot.

It lies in the artifacts bucket, not in user data, so an edited shift needs no new launch template.
Standard library only. What a type of instance should look like comes from the catalog, by the type.
"""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import dataclass
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bootstrap.decode import Problems, decode

VERSION = 1
_CLOCK = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


class ManifestError(ValueError):
    """Not a manifest that this agent can read; `problems` has all reasons, one line each."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("boot manifest: " + "; ".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class BootShift:
    """A weekly window in the manifest's zone, HH:MM to HH:MM; `end` not after `start` means the next day."""

    days: tuple[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"], ...]
    start: str
    end: str


@dataclass(frozen=True)
class BootVolume:
    """A volume to attach and mount. Formatted only if `blank`: made by us from nothing."""

    name: str
    size_gib: int
    filesystem: Literal["xfs", "ext4"]
    per: Literal["site", "node"]
    blank: bool


@dataclass(frozen=True)
class BootIdle:
    """GPUs under `below_percent` for `lasting_s` seconds are idle."""

    below_percent: int
    lasting_s: int
    then: Literal["warn", "release"]


@dataclass(frozen=True)
class BootJob:
    """The training run. `secrets` are names in Secrets Manager, never values."""

    repo: str
    ref: str | None
    run: str
    secrets: tuple[str, ...]
    when_done: Literal["release", "stay"]


@dataclass(frozen=True)
class BootManifest:
    """One group's manifest. Durations in seconds, sizes in GiB."""

    site: str
    group: str
    group_name: str
    region: str
    zone: str
    nodes: int
    instance_types: tuple[str, ...]
    efa: bool
    runtime: str
    timezone: str
    shifts: tuple[BootShift, ...]
    volumes: tuple[BootVolume, ...]
    boot_s: int
    drain_s: int
    data_bucket: str
    log_group: str
    idle: BootIdle | None = None
    job: BootJob | None = None
    notebook: bool = False
    users: tuple[str, ...] = ()
    gpu_hours_monthly: int | None = None
    version: int = VERSION

    def to_json(self) -> str:
        """The text that lies in the bucket: sorted keys, so that the same manifest is the same text."""
        return json.dumps(dataclasses.asdict(self), indent=1, sort_keys=True) + "\n"


def from_json(text: str) -> BootManifest:
    """Read a manifest. Raises ManifestError with every problem, also for one of another version."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ManifestError((f"not JSON: {error}",)) from None
    version = raw.get("version") if isinstance(raw, dict) else None
    if version != VERSION:
        raise ManifestError(
            (f"version: given {version!r}, this agent reads {VERSION}; run `pulumi up` to write both anew",)
        )
    problems: Problems = []
    manifest = decode(BootManifest, raw, "", problems)
    if isinstance(manifest, BootManifest):
        problems += _odd(manifest)
    if problems or not isinstance(manifest, BootManifest):
        raise ManifestError(tuple(problems))
    return manifest


def _odd(manifest: BootManifest) -> list[str]:
    """Values of the right type that can't be: what is read here must never fail a node in its shift."""
    counts = {"nodes": manifest.nodes, "boot_s": manifest.boot_s, "drain_s": manifest.drain_s}
    counts |= {f"volumes[{at}].size_gib": each.size_gib for at, each in enumerate(manifest.volumes)}
    odd = [f"{path}: given {count}, expected 1 or more" for path, count in counts.items() if count < 1]
    if not manifest.instance_types:
        odd.append("instance_types: given none, expected one or more")
    if not _is_zone(manifest.timezone):
        odd.append(f"timezone: given {manifest.timezone!r:.60}, expected a zone such as Europe/Berlin")
    for at, shift in enumerate(manifest.shifts):
        if not shift.days:
            odd.append(f"shifts[{at}].days: given none, expected one or more")
        odd += [
            f"shifts[{at}].{name}: given {text!r:.60}, expected HH:MM"
            for name, text in (("start", shift.start), ("end", shift.end))
            if not _CLOCK.fullmatch(text)
        ]
    return odd


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
