"""The probe's answers, read strictly: an answer of another shape is no answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bootstrap.decode import Problems, decode
from bootstrap.readiness.commands import Command
from bootstrap.readiness.reading import Unreadable, seen
from bootstrap.readiness.situation import Situation

PROBE = str(Path(__file__).with_name("probe.py"))
IMPORT_DEADLINE_S = 300.0
"""torch's first import reads several GB from a cold volume."""
KERNELS_DEADLINE_S = 600.0
"""Eight cards, one compiler run each; a compiler's first run took 100 s on a busy host with two cores."""
COLLECTIVE_S = 180.0
"""The probe's own limit; the outer one leaves it time to say which ranks hang."""
MARGIN_S = 60.0
KERNELS = ("matmul", "conv2d", "compiled")


@dataclass(frozen=True)
class Device:
    """A card as torch has it."""

    index: int
    name: str
    major: int
    minor: int


@dataclass(frozen=True)
class RuntimeReport:
    """`archs` as torch lists them; `libraries` are the mapped ones of CUDA; None where torch has none."""

    step: Literal["runtime"]
    python: str
    prefix: str
    loader_path: str
    torch: str | None
    cuda: str | None
    cudnn: int | None
    nccl: str | None
    triton: str | None
    archs: tuple[str, ...]
    available: bool
    devices: tuple[Device, ...]
    libraries: tuple[str, ...]
    error: str | None


@dataclass(frozen=True)
class KernelResult:
    """`ppm` is the largest difference in millionths of the largest right value, None for not a number."""

    kernel: Literal["matmul", "conv2d", "compiled", "bf16"]
    ppm: int | None
    error: str | None
    ms: int


@dataclass(frozen=True)
class DeviceKernels:
    """What one card computed."""

    device: str
    results: tuple[KernelResult, ...]


@dataclass(frozen=True)
class KernelsReport:
    """All cards, in order; `libraries` are those of CUDA that were mapped once all had run."""

    step: Literal["kernels"]
    devices: tuple[DeviceKernels, ...]
    libraries: tuple[str, ...]
    error: str | None


@dataclass(frozen=True)
class CollectiveReport:
    """`finished` of `ranks` ended well; `hung` are those that the deadline ended; bus bandwidth in MB/s."""

    step: Literal["collective"]
    backend: str
    ranks: int
    finished: int
    hung: tuple[int, ...]
    correct: bool
    mb_per_s: int | None
    network: tuple[str, ...]
    error: str | None


def runtime_command(python: str) -> Command:
    """Asks for a RuntimeReport."""
    return (python, PROBE, "runtime")


def kernels_command(python: str) -> Command:
    """Asks for a KernelsReport."""
    return (python, PROBE, "kernels")


def collective_command(python: str, network: str = "") -> Command:
    """Asks for a CollectiveReport; with `network`, NCCL has to take the one of that name."""
    chosen = ("--network", network) if network else ()
    return (python, PROBE, "collective", "--deadline", f"{COLLECTIVE_S:g}", *chosen)


def runtime_report(situation: Situation) -> RuntimeReport:
    """Raises Unreadable."""
    return _report(situation, runtime_command(situation.python), IMPORT_DEADLINE_S, RuntimeReport)


def kernels_report(situation: Situation) -> KernelsReport:
    """Raises Unreadable."""
    return _report(situation, kernels_command(situation.python), KERNELS_DEADLINE_S, KernelsReport)


def collective_report(situation: Situation, network: str = "") -> CollectiveReport:
    """Raises Unreadable."""
    command = collective_command(situation.python, network)
    return _report(situation, command, COLLECTIVE_S + MARGIN_S, CollectiveReport)


def _report(situation: Situation, command: Command, deadline_s: float, kind: Any) -> Any:
    text = situation.ask(command, deadline_s)
    what = f"the probe's answer ({command[2]})"
    problems: Problems = []
    try:
        report = decode(kind, json.loads(text), "", problems)
    except (ValueError, RecursionError) as error:
        raise Unreadable(what, f"not JSON ({error}): {seen(text)}") from None
    if problems or not isinstance(report, kind):
        raise Unreadable(what, "; ".join(problems[:3]))
    return report
