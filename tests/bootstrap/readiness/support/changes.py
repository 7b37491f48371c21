"""Ways to change a healthy machine, and on which machines a change makes sense."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bootstrap.readiness import read_system
from bootstrap.readiness.checks_efa import NETWORK
from bootstrap.readiness.commands import Answer, Command
from bootstrap.readiness.read_probe import collective_command, kernels_command
from nightshift.emulator.sandbox.machines import outputs
from nightshift.emulator.sandbox.machines.description import KERNEL, PREFIX, PYTHON, Machine
from nightshift.emulator.sandbox.machines.outputs import data, listing


@dataclass(frozen=True)
class Fault:
    """`check` must fail first and its finding must hold `says`; `on` tells which machines it can befall."""

    name: str
    check: str
    says: str
    change: Callable[[Machine], Machine]
    on: Callable[[Machine], bool] = lambda _: True
    reports: tuple[int, ...] = ()


def answering(command: Command, answer: Callable[[Machine], Answer]) -> Callable[[Machine], Machine]:
    return lambda machine: replace(machine, changed={**machine.changed, command: answer(machine)})


def said(command: Command, text: str) -> Callable[[Machine], Machine]:
    return answering(command, lambda _: listing(text) if command[0] == "sh" else Answer(0, text))


def failing(command: Command, rc: int, text: str) -> Callable[[Machine], Machine]:
    return answering(command, lambda _: Answer(rc, text))


def with_files(**given: str | None) -> Callable[[Machine], Machine]:
    return with_paths(given)


def with_paths(given: Mapping[str, str | None]) -> Callable[[Machine], Machine]:
    return lambda machine: replace(machine, files={**machine.files, **given})


def with_cells(**given: str) -> Callable[[Machine], Machine]:
    cells = {key.replace("__", "."): value for key, value in given.items()}
    return lambda machine: replace(machine, cells=cells)


def telling(**told: Any) -> Callable[[Machine], Machine]:
    return lambda machine: replace(machine, told=told)


def importing(error: str) -> Callable[[Machine], Machine]:
    empty: dict[str, Any] = {"torch": None, "cuda": None, "cudnn": None, "nccl": None, "triton": None}
    return telling(**empty, archs=[], available=False, devices=[], libraries=[], error=error)


def computing(**kernels: Mapping[str, Any]) -> Callable[[Machine], Machine]:
    return answering(
        kernels_command(PYTHON), lambda machine: data(outputs.kernels_answer(machine, **kernels))
    )


def late_library(path: str) -> Callable[[Machine], Machine]:
    def tell(machine: Machine) -> Answer:
        told = outputs.kernels_answer(machine)
        return data({**told, "libraries": [*told["libraries"], path]})

    return answering(kernels_command(PYTHON), tell)


def reducing(**changed: Any) -> Callable[[Machine], Machine]:
    return answering(
        collective_command(PYTHON), lambda machine: data(outputs.collective_answer(machine, **changed))
    )


def networking(**changed: Any) -> Callable[[Machine], Machine]:
    command = collective_command(PYTHON, NETWORK)
    return answering(command, lambda machine: data(outputs.collective_answer(machine, **changed)))


def many(machine: Machine) -> bool:
    return machine.cards > 1


def ampere(machine: Machine) -> bool:
    return machine.gpu.capability >= (8, 0)


def switched(machine: Machine) -> bool:
    return machine.switched


def with_efa(machine: Machine) -> bool:
    return machine.efa_devices > 0


def gsp(machine: Machine) -> bool:
    return bool(machine.gpu.gsp_hangs)


def blackwell(machine: Machine) -> bool:
    return machine.gpu.subnet_manager


def xid(code: int, text: str) -> Callable[[Machine], Machine]:
    line = f"[  812.440312] NVRM: Xid (PCI:0000:10:00): {code}, {text}\n"
    return said(read_system.KERNEL_LOG, f"[    0.000000] Linux version {KERNEL}\n{line}")


def runtime_libraries(*more: str) -> Callable[[Machine], Machine]:
    own = f"{PREFIX}/lib/python3.13/site-packages/nvidia/nccl/lib/libnccl.so.2"
    return telling(libraries=[own, *more])


def fewer_in_torch(machine: Machine) -> Machine:
    return replace(machine, told={"devices": outputs.runtime_answer(machine)["devices"][:-1]})


def loaded(text: str) -> Callable[[Machine], Machine]:
    return said(read_system.LOADER_CACHE, f"1 libs found in cache `/etc/ld.so.cache'\n\t{text}\n")
