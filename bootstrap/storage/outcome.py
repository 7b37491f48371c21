"""What this room hands back: steps with measured seconds, words for people, and the one error inside it."""

from __future__ import annotations

from dataclasses import dataclass, field

from bootstrap.readiness.verdict import Finding


@dataclass(frozen=True)
class Step:
    """One thing done to one volume; `seconds` as measured."""

    name: str
    seconds: float
    says: str


class StorageError(Exception):
    """A volume can't be had, mounted or let go. The four texts are a finding's."""

    def __init__(self, volume: str, expected: str, found: str, remedy: str) -> None:
        super().__init__(f"volume {volume}: expected {expected}, found {found}; {remedy}")
        self.volume, self.expected, self.found, self.remedy = volume, expected, found, remedy

    def finding(self) -> Finding:
        """The same for readiness."""
        return Finding(f"storage.{self.volume}", False, self.expected, self.found, self.remedy)


@dataclass(frozen=True)
class Mounted:
    """A volume that stands. `was` is what was found on it, `formatted` and `grown` what this call did.

    `size` in bytes; `note` is empty unless something should be known: a filesystem that could not grow.
    """

    name: str
    id: str
    device: str
    path: str
    filesystem: str
    size: int
    was: str
    formatted: bool
    grown: bool
    steps: tuple[Step, ...]
    note: str = ""


@dataclass(frozen=True)
class AttachReport:
    """Of all volumes. Without a problem every volume of the manifest is mounted, in claim order."""

    volumes: tuple[Mounted, ...]
    steps: tuple[Step, ...]
    problems: tuple[Finding, ...]
    seconds: float

    @property
    def ready(self) -> bool:
        """Whether all of them stand."""
        return not self.problems

    def finding(self) -> Finding:
        """The one finding of the readiness check `storage`."""
        if self.problems:
            first = self.problems[0]
            return Finding("storage", False, f"{first.check}: {first.expected}", first.found, first.remedy)
        told = (
            f"{each.name} at {each.path}" + (f" ({each.note})" if each.note else "") for each in self.volumes
        )
        names = ", ".join(told) or "none declared"
        return Finding("storage", True, "every volume mounted", names, "")


@dataclass(frozen=True)
class Released:
    """One volume given back, or as far as it came: `problem` is None when it's available to others."""

    name: str
    id: str
    ended: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    problem: Finding | None = None


@dataclass(frozen=True)
class ReleaseReport:
    """Of all volumes that this node held, the last claimed first."""

    volumes: tuple[Released, ...]
    seconds: float
    problems: tuple[Finding, ...] = field(default=())

    @property
    def clean(self) -> bool:
        """Whether nothing of ours is held any more."""
        return not self.problems
