"""Runtimes: a pinned set of Python, torch and CUDA, and which cards and drivers it runs on.

Versions are the exact pins in torch's published wheels; architectures are those its release notes and the
wheel itself name; drivers are the floors of NVIDIA's minor-version rule (CUDA 13.2 release notes).
Read on 2026-11-30.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Runtime:
    """One preset. `archs` are the SM numbers compiled into torch (86 is compute capability 8.6).

    `min_driver` is the lowest driver by the minor-version rule, `toolkit_driver` the one that shipped
    with the CUDA release, both empty without CUDA.
    """

    name: str
    what: str
    python: str
    torch: str
    torchvision: str
    cuda: str | None
    cudnn: str | None
    nccl: str | None
    triton: str | None
    min_driver: str
    toolkit_driver: str
    archs: tuple[int, ...]

    def runs_on(self, capability: tuple[int, int]) -> bool:
        """True when torch holds code for a card of this compute capability.

        Code for X.y runs on X.z with z not below y, and never on another major.
        """
        if not self.archs:
            return True
        major, minor = capability
        return any(arch // 10 == major and arch % 10 <= minor for arch in self.archs)

    def driver_suffices(self, driver: str) -> bool:
        """Whether a dotted driver version reaches the floor, compared part by part."""
        return _parts(driver) >= _parts(self.min_driver)


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part)


_ALL = (
    Runtime(
        "torch-2.6-cu124",
        "torch 2.6 on CUDA 12.4: V100 up to H200, not Blackwell",
        python="3.13",
        torch="2.6.0",
        torchvision="0.21.0",
        cuda="12.4",
        cudnn="9.1.0.70",
        nccl="2.21.5",
        triton="3.2.0",
        min_driver="525.60.13",
        toolkit_driver="550.54.15",
        archs=(50, 60, 70, 75, 80, 86, 90),
    ),
    Runtime(
        "torch-2.8-cu128",
        "torch 2.8 on CUDA 12.8: V100 up to Blackwell",
        python="3.12",
        torch="2.8.0",
        torchvision="0.23.0",
        cuda="12.8",
        cudnn="9.10.2.21",
        nccl="2.27.3",
        triton="3.4.0",
        min_driver="525.60.13",
        toolkit_driver="570.124.06",
        archs=(70, 75, 80, 86, 90, 100, 120),
    ),
    Runtime(
        "torch-2.15-cu132",
        "torch 2.15 on CUDA 13.2: T4 up to Blackwell, not V100; needs a driver of branch 580 or newer",
        python="3.12",
        torch="2.15.0",
        torchvision="0.29.2",
        cuda="13.2",
        cudnn="9.26.0.51",
        nccl="2.30.7",
        triton="3.9.0",
        min_driver="580.65.06",
        toolkit_driver="595.71.05",
        archs=(75, 80, 86, 90, 100, 120),
    ),
    Runtime(
        "cpu",
        "torch 2.15 without CUDA: rehearsals and data work",
        python="3.12",
        torch="2.15.0",
        torchvision="0.29.2",
        cuda=None,
        cudnn=None,
        nccl=None,
        triton=None,
        min_driver="",
        toolkit_driver="",
        archs=(),
    ),
)

RUNTIMES: Mapping[str, Runtime] = MappingProxyType({runtime.name: runtime for runtime in _ALL})
"""All presets by name, oldest torch first, `cpu` last."""
NEWEST = "torch-2.15-cu132"
