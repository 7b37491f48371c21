"""A recorded machine as the checks are given it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bootstrap.imds import Instance
from bootstrap.manifest import BootManifest
from bootstrap.readiness.commands import Answer, Command, Recorded
from bootstrap.readiness.situation import Situation
from nightshift.emulator.sandbox.machines.answers import answers, files
from nightshift.emulator.sandbox.machines.description import PYTHON, Machine
from tests.bootstrap.support.samples import MANIFEST


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


def manifest(machine: Machine) -> BootManifest:
    return replace(
        MANIFEST,
        nodes=machine.nodes,
        instance_types=(machine.kind,),
        efa=machine.efa,
        runtime=machine.runtime,
        boot_s=900,
        drain_s=600,
    )
