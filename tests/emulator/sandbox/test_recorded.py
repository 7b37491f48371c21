"""A recorded machine's programs say, through real processes, what its record says."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bootstrap.readiness import read_nvidia, read_system
from bootstrap.readiness.commands import Answer, Shell
from nightshift.catalog.instance_types import instance_types
from nightshift.emulator.sandbox.image import Image
from nightshift.emulator.sandbox.machines.answers import answers
from nightshift.emulator.sandbox.machines.description import PYTHON, Machine
from nightshift.emulator.sandbox.machines.recorded import ROOT, TABLE, equip, table
from nightshift.emulator.sandbox.network import Network

GPUS = {"T4", "L4", "H100", "B300"}
KINDS = sorted(
    name
    for name, kind in instance_types().items()
    if kind.gpu_model in GPUS and kind.gpu_count == int(kind.gpu_count)
)
TREE = Path(__file__).parents[3]
ASK = """
import json, sys
from bootstrap.readiness.commands import Shell
commands = json.load(sys.stdin)
answers = [Shell().run(tuple(command), 30) for command in commands]
print(json.dumps([[answer.rc, answer.stdout, answer.stderr] for answer in answers]))
"""


@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_of_a_machine_has_a_program(kind: str) -> None:
    image = Image()
    equip(image, Machine(kind=kind))
    rows = json.loads(image.files[TABLE])
    assert {name.rpartition("/")[2] for name in rows} == {path.rpartition("/")[2] for path in image.programs}
    assert len(rows["nvidia-smi"]) >= 6
    assert image.files[f"{ROOT}/proc/self/limits"].startswith("Limit")


def test_listings_are_recorded_as_the_program_says_them() -> None:
    (row,) = table(Machine())["dmesg"]
    assert row[1][0]["out"].endswith("nvidia: loading\n"), "the mark of the end is the shell's"


def test_a_cut_listing_fails_so_that_no_mark_is_set() -> None:
    machine = replace(Machine(), changed={read_system.KERNEL_LOG: Answer(0, "half a li")})
    (row,) = table(machine)["dmesg"]
    assert row[1] == [{"rc": 1, "out": "half a li", "err": "", "late": False}]


@pytest.mark.node
def test_a_node_answers_every_command_as_its_record_does(net: Network) -> None:
    machine = Machine(kind="p5.48xlarge")
    node = net.node("i-0abc", start=False)
    equip(node.image, machine)
    node.start()
    asked = [command for command in answers(machine) if command[0] not in ("systemctl", PYTHON)]
    given = json.dumps(asked)
    found = node.run([sys.executable, "-c", ASK], cwd=TREE, input=given).stdout
    told = [Answer(*row) for row in json.loads(found)]
    recorded = [answers(machine)[command] for command in asked]
    assert told == recorded
    assert Shell().run(read_nvidia.CARDS, 5).rc != 0, "this machine itself has none"


@pytest.mark.node
def test_answers_of_several_come_one_after_the_other(net: Network) -> None:
    clock = (Answer(0, "NTPSynchronized=no\n"), Answer(0, "NTPSynchronized=yes\n"))
    node = net.node("i-0abc", start=False)
    equip(node.image, replace(Machine(), changed={read_system.CLOCK: clock}))
    node.start()
    said = [node.run(read_system.CLOCK).stdout.strip().partition("=")[2] for _ in range(3)]
    assert said == ["no", "yes", "yes"]


@pytest.mark.node
def test_what_is_not_recorded_is_this_machines(net: Network) -> None:
    node = net.node("i-0abc", start=False)
    equip(node.image, Machine())
    node.start()
    assert "coreutils" in node.run(["df", "--version"]).stdout
    assert node.run(["nvidia-smi", "--unknown"], check=False).returncode == 127
    assert node.run([PYTHON, "-c", "print(6 * 7)"]).stdout == "42\n"
