"""A machine as data: what it is and in what it differs from a healthy one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bootstrap.readiness.commands import Answer, Command
from nightshift.catalog.gpus import GPUS, Gpu
from nightshift.catalog.instance_types import InstanceType, instance_type
from nightshift.catalog.runtimes import RUNTIMES, Runtime

PYTHON = "/opt/nightshift/runtime/bin/python"
PREFIX = "/opt/nightshift/runtime"
PLUGIN = "/opt/amazon/ofi-nccl/lib/libnccl-net.so"
KERNEL = "6.8.0-1060-aws"
NAMES = {
    "V100": "Tesla V100-SXM2-16GB",
    "T4": "Tesla T4",
    "A100": "NVIDIA A100-SXM4-40GB",
    "H100": "NVIDIA H100 80GB HBM3",
    "B300": "NVIDIA B300 SXM6 AC",
}
"""As nvidia-smi prints them; the others are `NVIDIA ` and the model."""


@dataclass(frozen=True)
class Machine:
    """What can be said of a node. The defaults are a healthy one of `kind`."""

    kind: str = "g6.12xlarge"
    runtime: str = "torch-2.8-cu128"
    driver: str = "595.71.05"
    nodes: int = 2
    efa: bool = True
    changed: Mapping[Command, Answer | tuple[Answer, ...]] = field(default_factory=dict)
    files: Mapping[str, str | None] = field(default_factory=dict)
    cells: Mapping[str, str] = field(default_factory=dict)
    """Cells of nvidia-smi's line of the last card."""
    told: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the probe's answer to `runtime`."""
    pci: int | None = None
    listed: int | None = None
    devices: int | None = None
    """EFA devices."""
    smi_driver: str | None = None
    open_module: bool | None = None

    @property
    def type(self) -> InstanceType:
        """Its row of the catalog."""
        return instance_type(self.kind)

    @property
    def gpu(self) -> Gpu:
        """Its cards' model."""
        return GPUS[self.type.gpu_model]

    @property
    def cards(self) -> int:
        """How many it should have."""
        return int(self.type.gpu_count)

    @property
    def preset(self) -> Runtime:
        """The runtime's row of the catalog."""
        return RUNTIMES[self.runtime]

    @property
    def efa_devices(self) -> int:
        """How many EFA devices it shows."""
        if self.devices is not None:
            return self.devices
        return (self.type.efa_max_interfaces or 0) if self.efa else 0

    @property
    def switched(self) -> bool:
        """Whether NVSwitches join its cards."""
        return self.type.cells["nvswitch"] == "yes"
