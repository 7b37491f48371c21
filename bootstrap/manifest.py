"""The boot manifest: all that a node must know of its group, written by the program, read on every boot.

It lies in the artifacts bucket, not in user data, so an edited shift needs no new launch template.
Standard library only. What a type of instance should look like comes from the catalog, by the type.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Literal

from bootstrap.decode import Problems, decode

VERSION = 1


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
    except ValueError as error:
        raise ManifestError((f"not JSON: {error}",)) from None
    version = raw.get("version") if isinstance(raw, dict) else None
    if version != VERSION:
        raise ManifestError(
            (f"version: given {version!r}, this agent reads {VERSION}; run `pulumi up` to write both anew",)
        )
    problems: Problems = []
    manifest = decode(BootManifest, raw, "", problems)
    if problems or not isinstance(manifest, BootManifest):
        raise ManifestError(tuple(problems))
    return manifest
