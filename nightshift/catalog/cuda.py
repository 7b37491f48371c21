"""CUDA releases, the drivers they need, and which compiled code a card can run.

Drivers are from NVIDIA's CUDA 13.2 release notes, tables 2 and 3, and its page on minor-version
compatibility; the rule for code is torch 2.15's own (`_code_compatible_with_device`). Read on 2026-11-30.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

_DOTTED = re.compile(r"\d+(?:\.\d+)+")
_ARCH = re.compile(r"(?P<kind>sm|compute)_(?P<major>\d+)(?P<minor>\d)(?P<suffix>[af]?)")
Code = Literal["cubin", "ptx"]


@dataclass(frozen=True)
class CudaRelease:
    """`floor` is the lowest driver that runs it at all, `toolkit` the one that its first release shipped."""

    version: str
    floor: str
    toolkit: str


_ALL = (
    CudaRelease("11.8", "450.80.02", "520.61.05"),
    CudaRelease("12.0", "525.60.13", "525.60.13"),
    CudaRelease("12.1", "525.60.13", "530.30.02"),
    CudaRelease("12.2", "525.60.13", "535.54.03"),
    CudaRelease("12.3", "525.60.13", "545.23.06"),
    CudaRelease("12.4", "525.60.13", "550.54.14"),
    CudaRelease("12.6", "525.60.13", "560.28.03"),
    CudaRelease("12.8", "525.60.13", "570.26"),
    CudaRelease("12.9", "525.60.13", "575.51.03"),
    CudaRelease("13.0", "580.65.06", "580.65.06"),
    CudaRelease("13.1", "580.65.06", "590.44.01"),
    CudaRelease("13.2", "580.65.06", "595.45.04"),
)
CUDA: Mapping[str, CudaRelease] = MappingProxyType({release.version: release for release in _ALL})
"""By version. 13.1 and 13.2 run on branch 580; its first released driver stands as the floor."""


def parts(version: str) -> tuple[int, ...]:
    """A dotted version as numbers, all parts: 525.60.4 is below 525.60.13. Raises ValueError."""
    if not _DOTTED.fullmatch(version):
        raise ValueError(f"not a dotted version: {version!r}")
    return tuple(int(part) for part in version.split("."))


def at_least(version: str, floor: str) -> bool:
    """Whether `version` reaches `floor`. Raises ValueError when either isn't a dotted version."""
    return parts(version) >= parts(floor)


def code_for(archs: Iterable[str], capability: tuple[int, int]) -> Code | None:
    """What of torch's architecture list a card runs: compiled code first, else PTX, else nothing.

    Compiled code (`sm_86`) runs on the same major with the same or a higher minor, never on another major;
    with the suffix `a` on its own card alone. PTX (`compute_120`) is compiled by the driver for any card
    that isn't older. Names of another shape count for nothing.
    """
    found = [match for match in map(_ARCH.fullmatch, archs) if match]
    if any(match["kind"] == "sm" and _runs(match, capability) for match in found):
        return "cubin"
    if any(match["kind"] == "compute" and _compiles(match, capability) for match in found):
        return "ptx"
    return None


def _runs(arch: re.Match[str], capability: tuple[int, int]) -> bool:
    major, minor = int(arch["major"]), int(arch["minor"])
    if arch["suffix"] == "a":
        return (major, minor) == capability
    return major == capability[0] and minor <= capability[1]


def _compiles(arch: re.Match[str], capability: tuple[int, int]) -> bool:
    made_for = (int(arch["major"]), int(arch["minor"]))
    if arch["suffix"] == "a":
        return made_for == capability
    if arch["suffix"] == "f":
        return _runs(arch, capability)
    return made_for <= capability
