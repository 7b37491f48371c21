"""A machine from a description: the files and the answers that the checks would see on it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bootstrap.imds import Instance
from bootstrap.manifest import BootManifest
from bootstrap.readiness import read_nvidia, read_system
from bootstrap.readiness.checks_efa import FI_INFO, INSTALLED_FILE, NETWORK
from bootstrap.readiness.checks_fabric import UNIT
from bootstrap.readiness.checks_packages import APT_UNITS, BLACKLIST
from bootstrap.readiness.checks_runtime import cudnn_number
from bootstrap.readiness.commands import Answer, Command, Recorded, marked, whole
from bootstrap.readiness.read_probe import collective_command, kernels_command, runtime_command
from bootstrap.readiness.situation import Situation
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
        return instance_type(self.kind)

    @property
    def gpu(self) -> Gpu:
        return GPUS[self.type.gpu_model]

    @property
    def cards(self) -> int:
        return int(self.type.gpu_count)

    @property
    def preset(self) -> Runtime:
        return RUNTIMES[self.runtime]

    @property
    def efa_devices(self) -> int:
        if self.devices is not None:
            return self.devices
        return (self.type.efa_max_interfaces or 0) if self.efa else 0

    @property
    def switched(self) -> bool:
        return self.type.cells["nvswitch"] == "yes"


def manifest(machine: Machine) -> BootManifest:
    return BootManifest(
        site="lab",
        group="vit",
        group_name="nightshift-lab-vit",
        region="us-east-1",
        zone="us-east-1a",
        nodes=machine.nodes,
        instance_types=(machine.kind,),
        efa=machine.efa,
        runtime=machine.runtime,
        timezone="Etc/UTC",
        shifts=(),
        volumes=(),
        boot_s=900,
        drain_s=600,
        data_bucket="data",
        log_group="/nightshift/lab",
    )


def situation(machine: Machine, root: Path) -> Situation:
    """The machine's files below `root`, its answers recorded."""
    write(machine, root)
    return situation_of(machine, root, answers(machine))


def situation_of(
    machine: Machine, root: Path, given: Mapping[Command, Answer | tuple[Answer, ...]]
) -> Situation:
    return Situation(
        manifest=manifest(machine),
        instance=Instance("i-0abc", machine.kind, "us-east-1a"),
        commands=Recorded(given),
        python=PYTHON,
        root=root,
        sleep=lambda _: None,
    )


def write(machine: Machine, root: Path) -> None:
    for name, text in {**files(machine), **machine.files}.items():
        if text is not None:
            path = root / name.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def module_text(machine: Machine) -> str:
    is_open = machine.gpu.module != "proprietary" if machine.open_module is None else machine.open_module
    name = "Open Kernel Module for x86_64" if is_open else "x86_64 Kernel Module"
    return (
        f"NVRM version: NVIDIA UNIX {name}  {machine.driver}  Release Build  (dvs-builder@U22)  "
        "Tue Mar  3 17:20:02 UTC 2026\nGCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04)\n"
    )


def files(machine: Machine) -> dict[str, str]:
    pci = machine.cards if machine.pci is None else machine.pci
    found = {
        f"/sys/bus/pci/devices/0000:{0x10 + index:02x}:00.0/{name}": f"{value}\n"
        for index in range(pci)
        for name, value in (("vendor", "0x10de"), ("class", "0x030200"))
    }
    found["/sys/bus/pci/devices/0000:00:05.0/vendor"] = "0x1d0f\n"
    if machine.switched:
        found["/sys/bus/pci/devices/0000:80:00.0/vendor"] = "0x10de\n"
        found["/sys/bus/pci/devices/0000:80:00.0/class"] = "0x068000\n"
    for module in ("nvidia", "nvidia_uvm", "ib_umad", "efa", "ib_uverbs", "ib_core"):
        found[f"/sys/module/{module}/initstate"] = "live\n"
    for index in range(machine.efa_devices):
        found[f"/sys/class/infiniband/{efa_name(index)}/node_guid"] = f"{index:016x}\n"
    limit = f"{'Max open files':<26}{1024:<21}{524288:<21}files     \n"
    locked = f"{'Max locked memory':<26}{'unlimited':<21}{'unlimited':<21}bytes     \n"
    return found | {
        "/dev/nvidia-uvm": "",
        "/proc/driver/nvidia/version": module_text(machine),
        "/proc/driver/nvidia/params": "ResmanDebugLevel: 4294967295\nEnableGpuFirmware: 18\n",
        "/proc/sys/kernel/osrelease": f"{KERNEL}\n",
        "/proc/sys/kernel/hostname": "ip-10-0-1-5\n",
        "/proc/self/limits": f"{'Limit':<26}{'Soft Limit':<21}{'Hard Limit':<21}Units     \n{limit}{locked}",
        "/usr/bin/apt-get": "",
        "/usr/bin/dpkg-query": "",
        f"/lib/modules/{KERNEL}/build/Makefile": "",
        "/opt/nvidia/nvlsm/sbin/nvlsm": "",
        FI_INFO: "",
        PLUGIN: "",
        INSTALLED_FILE: "# EFA installer version: 1.50.0\n# Debug packages installed: no\n"
        "# Packages installed:\nlibfabric-aws-bin_2.4.0amzn1.0_amd64\nlibnccl-ofi_1.21.1-1_amd64\n",
    }


def efa_name(index: int) -> str:
    return f"rdmap{16 + index}s27"


def cell_values(machine: Machine, index: int) -> dict[str, str]:
    major, minor = machine.gpu.capability
    ampere = machine.gpu.capability >= (8, 0)
    model = machine.type.gpu_model
    return {
        "index": str(index),
        "name": NAMES.get(model, f"NVIDIA {model}"),
        "driver_version": machine.smi_driver or machine.driver,
        "compute_cap": f"{major}.{minor}",
        "memory.total": str(int(machine.type.gpu_memory_gib * 1024 * 97 // 100)),
        "ecc.mode.current": "Enabled",
        "ecc.mode.pending": "Enabled",
        "ecc.errors.uncorrected.volatile.total": "0",
        "retired_pages.pending": "[N/A]" if ampere else "No",
        "mig.mode.current": "Disabled" if machine.gpu.nvlinks else "[N/A]",
        "persistence_mode": "Enabled",
    }


def smi(machine: Machine) -> str:
    count = machine.cards if machine.listed is None else machine.listed
    rows = [cell_values(machine, index) for index in range(count)]
    if rows:
        rows[-1].update(machine.cells)
    return "".join(", ".join(row.values()) + "\n" for row in rows)


def runtime_answer(machine: Machine) -> dict[str, Any]:
    preset, (major, minor) = machine.preset, machine.gpu.capability
    site = f"{PREFIX}/lib/python3.13/site-packages/nvidia"
    name = cell_values(machine, 0)["name"]
    return {
        "step": "runtime",
        "python": "3.13.9",
        "prefix": PREFIX,
        "loader_path": "",
        "torch": f"{preset.torch}+cu{(preset.cuda or '').replace('.', '')}",
        "cuda": preset.cuda,
        "cudnn": cudnn_number(preset),
        "nccl": preset.nccl,
        "triton": preset.triton,
        "archs": [f"sm_{arch}" for arch in preset.archs],
        "available": True,
        "devices": [
            {"index": index, "name": name, "major": major, "minor": minor} for index in range(machine.cards)
        ],
        "libraries": [
            f"{site}/cublas/lib/libcublas.so.12",
            f"{site}/cudnn/lib/libcudnn.so.9",
            f"{site}/nccl/lib/libnccl.so.2",
            f"/usr/lib/x86_64-linux-gnu/libcuda.so.{machine.driver}",
        ],
        "error": None,
        **machine.told,
    }


def kernels_answer(machine: Machine, **changed: Any) -> dict[str, Any]:
    """`changed`: for each kernel, keys of its result on the last card."""
    names = ["matmul", "conv2d", "compiled", *(["bf16"] if machine.gpu.capability >= (8, 0) else [])]
    devices = [
        {
            "device": f"cuda:{index}",
            "results": [{"kernel": name, "ppm": 3, "error": None, "ms": 12} for name in names],
        }
        for index in range(machine.cards)
    ]
    for result in devices[-1]["results"]:
        if isinstance(result, dict):
            result.update(changed.get(result["kernel"], {}))
    return {"step": "kernels", "devices": devices, "error": None}


def collective_answer(machine: Machine, **changed: Any) -> dict[str, Any]:
    return {
        "step": "collective",
        "backend": "nccl",
        "ranks": machine.cards,
        "finished": machine.cards,
        "hung": [],
        "correct": True,
        "mb_per_s": 22000 if machine.cards > 1 else None,
        "network": [],
        "error": None,
        **changed,
    }


def data(told: Mapping[str, Any]) -> Answer:
    return Answer(0, json.dumps(told) + "\n")


def listing(text: str) -> Answer:
    return Answer(0, marked(text))


def unit_blocks(names: tuple[str, ...], load: str, active: str) -> str:
    blocks = [f"Id={name}\nLoadState={load}\nActiveState={active}\nUnitFileState={load}\n" for name in names]
    return "\n".join(blocks)


def show(names: tuple[str, ...]) -> Command:
    return ("systemctl", "show", "--property=Id,LoadState,ActiveState,UnitFileState", *names)


def fabric_rows(machine: Machine, state: str, status: str) -> str:
    return "".join(f"{index}, {state}, {status}\n" for index in range(machine.cards))


def links_text(machine: Machine, down: int = 0) -> str:
    """`down` links of the last card are inactive."""
    lines = []
    for index in range(machine.cards):
        lines.append(
            f"GPU {index}: {cell_values(machine, 0)['name']} (UUID: GPU-0{index}a1b2c3-0000-0000-0000-00)"
        )
        count = machine.gpu.nvlinks or 0
        dark = range(count - down, count) if index == machine.cards - 1 else range(0)
        lines += [
            f"\t Link {link}: {'<inactive>' if link in dark else '26.562 GB/s'}" for link in range(count)
        ]
    return "\n".join(lines) + "\n"


def fi_info_text(names: list[str]) -> str:
    return "".join(
        f"provider: efa\n    fabric: efa\n    domain: {name}-{kind}\n    version: 203.0\n"
        f"    type: FI_EP_{kind[:3].upper()}\n    protocol: FI_PROTO_EFA\n"
        for name in names
        for kind in ("rdm", "dgrm")
    )


def packages_text(machine: Machine, driver: str | None = None) -> str:
    version = driver or machine.driver
    branch = version.partition(".")[0]
    return (
        f"ii |bash|5.1-6ubuntu1.1\nii |libnvidia-compute-{branch}|{version}-0ubuntu0.22.04.1\n"
        f"rc |nvidia-utils-470|470.256.02-0ubuntu1\nhi |nvidia-utils-{branch}|{version}-0ubuntu0.22.04.1\n"
    )


def network_answer(machine: Machine, **changed: Any) -> dict[str, Any]:
    lines = [
        "NET/OFI Selected provider is efa, fabric is efa-direct (found 8 nics)",
        f"Using network {NETWORK}",
    ]
    return collective_answer(machine, network=lines, **changed)


def answers(machine: Machine) -> dict[Command, Answer | tuple[Answer, ...]]:
    """Everything that a healthy machine of this description answers, with `changed` laid over it."""
    names = [efa_name(index) for index in range(machine.efa_devices)]
    count = machine.cards if machine.listed is None else machine.listed
    rows = "".join(f"GPU-{index:08x}, No, No\n" for index in range(count))
    healthy: dict[Command, Answer | tuple[Answer, ...]] = {
        read_nvidia.CARDS: Answer(0, smi(machine)),
        read_nvidia.ROWS: Answer(0, rows),
        read_nvidia.FABRIC: Answer(0, fabric_rows(machine, "Completed", "Success")),
        read_nvidia.LINKS: listing(links_text(machine)),
        read_nvidia.MANAGER: Answer(0, f"Fabric Manager version is : {machine.driver}\n"),
        read_system.KERNEL_LOG: listing(
            "[    0.000000] Linux version 6.8.0-1060-aws\n[    9.1] nvidia: loading\n"
        ),
        read_system.PACKAGES: listing(packages_text(machine)),
        read_system.LOADER_CACHE: listing(
            "2 libs found in cache `/etc/ld.so.cache'\n\tlibz.so.1 (libc6,x86-64) => /lib/libz.so.1\n"
            "\tlibcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1\n"
        ),
        read_system.CLOCK: Answer(0, "NTPSynchronized=yes\n"),
        whole(("getent", "ahostsv4", "ip-10-0-1-5")): listing("10.0.1.5        STREAM ip-10-0-1-5\n"),
        show(APT_UNITS): Answer(0, unit_blocks(APT_UNITS, "masked", "inactive")),
        show((UNIT,)): Answer(0, unit_blocks((UNIT,), "loaded", "active")),
        BLACKLIST: listing(""),
        whole((FI_INFO, "-p", "efa")): listing(fi_info_text(names)),
        whole(("ldd", PLUGIN)): listing(
            "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibhwloc.so.15 => /lib/libhwloc.so.15 (0x00007f01)\n"
        ),
        ("df", "-Pk", "/dev/shm"): Answer(
            0,
            "Filesystem     1024-blocks  Used Available Capacity Mounted on\n"
            "tmpfs             98566144     0  98566144       0% /dev/shm\n",
        ),
        runtime_command(PYTHON): data(runtime_answer(machine)),
        kernels_command(PYTHON): data(kernels_answer(machine)),
        collective_command(PYTHON): data(collective_answer(machine)),
        collective_command(PYTHON, NETWORK): data(network_answer(machine)),
    }
    return healthy | dict(machine.changed)
