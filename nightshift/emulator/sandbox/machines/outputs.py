"""What programs and files of a machine say, in the words of the real ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bootstrap.readiness.checks_efa import NETWORK
from bootstrap.readiness.checks_runtime import cudnn_number
from bootstrap.readiness.commands import Answer, Command, marked
from nightshift.emulator.sandbox.machines.description import NAMES, PREFIX, Machine


def limits(files: str = "524288", locked: str = "unlimited") -> str:
    """/proc/self/limits with these two hard limits."""
    rows = (
        ("Limit", "Soft Limit", "Hard Limit", "Units"),
        ("Max open files", "1024", files, "files"),
        ("Max locked memory", locked, locked, "bytes"),
    )
    return "".join(f"{name:<26}{soft:<21}{hard:<21}{unit:<10}\n" for name, soft, hard, unit in rows)


def module_text(machine: Machine) -> str:
    """/proc/driver/nvidia/version."""
    is_open = machine.gpu.module != "proprietary" if machine.open_module is None else machine.open_module
    name = "Open Kernel Module for x86_64" if is_open else "x86_64 Kernel Module"
    return (
        f"NVRM version: NVIDIA UNIX {name}  {machine.driver}  Release Build  (dvs-builder@U22)  "
        "Tue Mar  3 17:20:02 UTC 2026\nGCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04)\n"
    )


def efa_name(index: int) -> str:
    """Name of the EFA device at this place."""
    return f"rdmap{16 + index}s27"


def cell_values(machine: Machine, index: int) -> dict[str, str]:
    """One card's cells of nvidia-smi, by field."""
    major, minor = machine.gpu.capability
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
        "mig.mode.current": "Disabled" if machine.gpu.nvlinks else "[N/A]",
        "persistence_mode": "Enabled",
    }


def smi(machine: Machine) -> str:
    """nvidia-smi's lines, a card each."""
    count = machine.cards if machine.listed is None else machine.listed
    rows = [cell_values(machine, index) for index in range(count)]
    if rows:
        rows[-1].update(machine.cells)
    return "".join(", ".join(row.values()) + "\n" for row in rows)


def runtime_answer(machine: Machine) -> dict[str, Any]:
    """What the probe says of torch and its libraries."""
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
    libraries = runtime_answer(machine)["libraries"]
    return {"step": "kernels", "devices": devices, "libraries": libraries, "error": None}


def collective_answer(machine: Machine, **changed: Any) -> dict[str, Any]:
    """What the probe says of an all_reduce."""
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
    """A probe's answer."""
    return Answer(0, json.dumps(told) + "\n")


def listing(text: str) -> Answer:
    """A listing whose end is marked."""
    return Answer(0, marked(text))


def unit_blocks(names: tuple[str, ...], load: str, active: str) -> str:
    """`systemctl show` of units in these states."""
    blocks = [f"Id={name}\nLoadState={load}\nActiveState={active}\n" for name in names]
    return "\n".join(blocks)


def show(names: tuple[str, ...]) -> Command:
    """The command that asks for these units."""
    return ("systemctl", "show", "--property=Id,LoadState,ActiveState", *names)


def fabric_rows(machine: Machine, state: str, status: str) -> str:
    """nvidia-smi's fabric state, a card each."""
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
    """`fi_info -p efa` with these devices."""
    return "".join(
        f"provider: efa\n    fabric: efa\n    domain: {name}-{kind}\n    version: 203.0\n"
        f"    type: FI_EP_{kind[:3].upper()}\n    protocol: FI_PROTO_EFA\n"
        for name in names
        for kind in ("rdm", "dgrm")
    )


def packages_text(machine: Machine, driver: str | None = None) -> str:
    """dpkg-query's list of a machine with this driver."""
    version = driver or machine.driver
    branch = version.partition(".")[0]
    return (
        f"ii |bash|5.1-6ubuntu1.1\nii |libnvidia-compute-{branch}|{version}-0ubuntu0.22.04.1\n"
        f"rc |nvidia-utils-470|470.256.02-0ubuntu1\nhi |nvidia-utils-{branch}|{version}-0ubuntu0.22.04.1\n"
    )


def network_answer(machine: Machine, **changed: Any) -> dict[str, Any]:
    """The probe's all_reduce over EFA."""
    lines = [
        "NET/OFI Selected provider is efa, fabric is efa-direct (found 8 nics)",
        f"Using network {NETWORK}",
    ]
    return collective_answer(machine, network=lines, **changed)
