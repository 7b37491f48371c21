"""`verify` on machines that aren't nodes, its table, its JSON, and its edge to other programs."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import bootstrap.readiness.verify as verify_module
from bootstrap.__main__ import main
from bootstrap.imds import Instance
from bootstrap.manifest import BootManifest
from bootstrap.readiness.commands import NOT_ALLOWED, NOT_FOUND, Answer, Recorded, Shell
from bootstrap.readiness.order import NAMES, RECORD, STORAGE, Look, checks_for, examine, order
from bootstrap.readiness.read_nvidia import FABRIC
from bootstrap.readiness.report import WIDTH, as_json, outcome, table
from bootstrap.readiness.situation import Situation
from bootstrap.readiness.verdict import NO_CHECKS, Finding, judge
from bootstrap.readiness.verify import NOT_READY, READY, present
from nightshift.emulator.sandbox.machines.answers import answers
from nightshift.emulator.sandbox.machines.description import Machine
from nightshift.emulator.sandbox.machines.outputs import fabric_rows
from tests.bootstrap.readiness.support.machines import manifest, situation

GOOD = Finding("other", True, "it", "it", "")


def alone(machine: Machine, root: Path) -> Situation:
    """The same machine somewhere else than EC2: no metadata, no manifest, no preset named."""
    na = {FABRIC: Answer(0, fabric_rows(machine, "[N/A]", "[N/A]"))}
    given = replace(machine, changed={**na, **machine.changed})
    return replace(situation(given, root), manifest=None, instance=None)


def test_a_gpu_machine_outside_aws_is_judged_by_its_own_cards(tmp_path: Path) -> None:
    node = alone(Machine("g6.12xlarge", efa=False), tmp_path)
    said: list[str] = []
    assert present(node, False, None, said.append) == READY
    assert "a machine that isn't on EC2" in said[0]
    assert "Ready: " in said[0]


def test_outside_aws_a_lost_card_is_noticed_against_the_bus(tmp_path: Path) -> None:
    node = alone(Machine("g6.12xlarge", efa=False, listed=3), tmp_path)
    verdict = judge(examine(node))
    assert (verdict.ready, verdict.failed) == (False, "driver.count")


def test_outside_aws_a_fabric_that_isn_t_joined_is_noticed(tmp_path: Path) -> None:
    machine = Machine("p5.48xlarge", efa=False)
    machine = replace(machine, changed={FABRIC: Answer(0, fabric_rows(machine, "Not Started", "N/A"))})
    assert judge(examine(alone(machine, tmp_path))).failed == "fabric.state"


def test_a_machine_without_a_gpu_is_told_plainly(tmp_path: Path) -> None:
    node = Situation(None, None, Recorded({}), "python3", root=tmp_path)
    said: list[str] = []
    assert present(node, False, None, said.append) == NOT_READY
    assert "this\nmachine has no GPU" in said[0] or "this machine has no GPU" in said[0]
    assert "Traceback" not in said[0]


def test_an_instance_that_hides_its_metadata_fails_closed(tmp_path: Path) -> None:
    node = alone(Machine("g6.12xlarge", efa=False), tmp_path)
    vendor = tmp_path / "sys/class/dmi/id/sys_vendor"
    vendor.parent.mkdir(parents=True)
    vendor.write_text("Amazon EC2\n")
    verdict = judge(examine(node))
    assert (verdict.ready, verdict.failed) == (False, "identity.type")
    assert "no answer from the instance metadata service, on EC2" in verdict.says


def test_a_group_s_node_without_metadata_fails_closed(tmp_path: Path) -> None:
    node = replace(situation(Machine(), tmp_path), instance=None)
    assert judge(examine(node, lambda _: GOOD, lambda _: GOOD)).failed == "identity.type"


def test_a_type_that_isn_t_the_group_s_fails_closed(tmp_path: Path) -> None:
    node = replace(situation(Machine(), tmp_path), instance=Instance("i-0", "g5.12xlarge", "us-east-1a"))
    verdict = judge(examine(node, lambda _: GOOD, lambda _: GOOD))
    assert 'found "g5.12xlarge"' in verdict.says


def test_another_zone_fails(tmp_path: Path) -> None:
    node = replace(situation(Machine(), tmp_path), instance=Instance("i-0", "g6.12xlarge", "us-east-1b"))
    assert judge(examine(node, lambda _: GOOD, lambda _: GOOD)).failed == "identity.zone"


def test_late_efa_devices_are_waited_for(tmp_path: Path) -> None:
    machine = Machine("p5en.48xlarge")
    node = situation(replace(machine, devices=15), tmp_path)
    given = answers(machine)

    def arrive(_: float) -> None:
        device = tmp_path / "sys/class/infiniband/rdmap31s27"
        device.mkdir(exist_ok=True)

    node = replace(node, sleep=arrive, commands=Recorded(given))
    assert judge(examine(node, lambda _: GOOD, lambda _: GOOD)).ready


def test_a_fabric_that_joins_late_is_waited_for(tmp_path: Path) -> None:
    machine = Machine("p5.48xlarge")
    rows = tuple(
        Answer(0, fabric_rows(machine, state, status))
        for state, status in (("In Progress", "N/A"), ("In Progress", "N/A"), ("Completed", "Success"))
    )
    node = situation(replace(machine, changed={FABRIC: rows}), tmp_path)
    assert judge(examine(node, lambda _: GOOD, lambda _: GOOD)).ready


def test_a_blacklist_that_covers_driver_and_kernel_holds(tmp_path: Path) -> None:
    from bootstrap.readiness.checks_packages import APT_UNITS, BLACKLIST
    from nightshift.emulator.sandbox.machines.outputs import listing, show, unit_blocks

    patterns = ("nvidia-.*", "libnvidia-.*", "cuda-.*", "linux-(image|headers|modules)-.*")
    text = "".join(f'Unattended-Upgrade::Package-Blacklist:: "{each}";\n' for each in patterns)
    changed = {
        show(APT_UNITS): Answer(0, unit_blocks(APT_UNITS, "loaded", "active")),
        BLACKLIST: listing(text),
    }
    node = situation(Machine(changed=changed), tmp_path)
    assert judge(examine(node, lambda _: GOOD, lambda _: GOOD)).ready


def test_a_rehearsal_on_the_cpu_asks_for_no_gpu_and_still_computes(tmp_path: Path) -> None:
    from bootstrap.readiness.read_probe import collective_command, kernels_command, runtime_command
    from nightshift.emulator.sandbox.machines.description import PYTHON
    from nightshift.emulator.sandbox.machines.outputs import (
        collective_answer,
        data,
        runtime_answer,
    )

    machine = Machine("g6.12xlarge", runtime="cpu", efa=False)
    results = [
        {"kernel": each, "ppm": 2, "error": None, "ms": 9}
        for each in ("matmul", "conv2d", "compiled", "bf16")
    ]
    nothing = {"available": False, "devices": [], "libraries": [], "archs": [], "cuda": None}
    changed = {
        runtime_command(PYTHON): data({**runtime_answer(machine), **nothing, "torch": "2.15.0+cpu"}),
        kernels_command(PYTHON): data(
            {
                "step": "kernels",
                "devices": [{"device": "cpu", "results": results}],
                "libraries": [],
                "error": None,
            }
        ),
        collective_command(PYTHON): data(
            {**collective_answer(machine), "backend": "gloo", "ranks": 2, "finished": 2}
        ),
    }
    node = situation(replace(machine, changed=changed), tmp_path)
    verdict = judge(examine(node, lambda _: GOOD, lambda _: GOOD))
    assert verdict.ready, verdict.says


def test_findings_that_prove_nothing_make_no_node_ready() -> None:
    idle = Finding("x", True, "nothing", "not asked", "", asked=False)
    assert judge([idle, idle]).says == NO_CHECKS
    unrun = Finding("y", False, "it", "not run", "", asked=False)
    assert not judge([GOOD, unrun]).ready


def test_the_order_is_the_design_s() -> None:
    parts = list(dict.fromkeys(name.partition(".")[0] for name in NAMES))
    assert parts == [
        "identity", "storage", "packages", "driver", "fabric",
        "runtime", "kernels", "collective", "efa", "record",
    ]  # fmt: skip
    assert [check.name for check in order(None, None)] == list(NAMES)
    assert len(set(NAMES)) == len(NAMES)


def boot(node: Situation, storage: Look | None = None) -> list[Finding]:
    assert node.manifest is not None
    assert node.instance is not None
    return [check(node.manifest, node.instance) for check in checks_for(lambda *_: node, storage)]


def test_a_boot_takes_every_check_and_leaves_the_record_to_the_launch(tmp_path: Path) -> None:
    found = boot(situation(Machine(), tmp_path), storage=lambda _: GOOD)
    assert [finding.check for finding in found] == [name for name in NAMES if name != RECORD]
    assert judge(found).ready


def test_a_boot_without_a_storage_check_is_never_ready(tmp_path: Path) -> None:
    node = situation(Machine(), tmp_path)
    verdict = judge(boot(node))
    assert (verdict.ready, verdict.failed) == (False, STORAGE)
    assert isinstance(node.commands, Recorded)
    assert all(command[0] != "nvidia-smi" for command in node.commands.asked)


def test_a_storage_fault_is_told_in_its_own_words(tmp_path: Path) -> None:
    bad = Finding("volume data", False, "mounted at /data", "foreign filesystem", "adopt another")
    verdict = judge(boot(situation(Machine(), tmp_path), storage=lambda _: bad))
    assert (
        verdict.says == "storage.volumes: expected mounted at /data, found foreign filesystem; adopt another"
    )


@pytest.mark.parametrize("listed", [4, 3])
def test_the_table_stays_within_its_columns(listed: int, tmp_path: Path) -> None:
    node = situation(Machine(listed=listed), tmp_path)
    found = examine(node, lambda _: GOOD, lambda _: GOOD)
    text = table(found, judge(found), node)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert ("FAIL     driver.count" in text) == (listed == 3)
    assert ("checks" in text and "not run" in text) == (listed == 3)


def test_the_json_says_the_same_and_names_every_check(tmp_path: Path) -> None:
    node = situation(Machine(listed=3), tmp_path)
    found = examine(node, lambda _: GOOD, lambda _: GOOD)
    told = json.loads(as_json(found, judge(found), node))
    assert list(told) == ["version", "ready", "failed", "says", "instance", "type", "runtime", "findings"]
    assert (told["version"], told["ready"], told["failed"]) == (1, False, "driver.count")
    assert [each["check"] for each in told["findings"]] == list(NAMES)
    assert {each["outcome"] for each in told["findings"]} == {"passed", "failed", "not asked", "not run"}
    assert [each["outcome"] for each in told["findings"]] == [outcome(finding) for finding in found]


def test_a_manifest_that_can_t_be_had_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify_module, "read_instance", nobody)
    assert main(["verify", "--node", str(tmp_path / "none.json")]) == 1
    assert "none.json" in capsys.readouterr().err


def test_findings_that_cannot_be_written_are_no_verdict(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify_module, "verify", lambda _request: print("driver: fine") or 0)
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(["verify"]) == 2
    assert capsys.readouterr().err == ("nightshift: the findings can't be written: No space left on device\n")


def test_an_unknown_preset_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--runtime", "torch-2.8-cu129"]) == 2
    assert 'did you mean "torch-2.8-cu128"?' in capsys.readouterr().err


def nobody() -> Instance:
    raise OSError("no route")


@pytest.mark.node
def test_on_this_machine_verify_ends_with_a_verdict(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify_module, "read_instance", nobody)
    code = main(["verify", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert code == (0 if told["ready"] else 1)
    assert told["ready"] or told["says"]


@pytest.mark.node
def test_a_real_command_gives_all_that_it_said() -> None:
    program = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    assert Shell().run((sys.executable, "-c", program), 30.0) == Answer(3, "out\n", "err\n")
    assert Shell().run(("no-such-program-here",), 5.0).rc == NOT_FOUND
    assert Shell().run((str(Path(__file__)),), 5.0).rc == NOT_ALLOWED


@pytest.mark.node
def test_a_command_s_children_end_with_it_at_the_deadline() -> None:
    begun = time.monotonic()
    answer = Shell().run(("sh", "-c", "echo begun; sleep 60 & sleep 60"), 1.0)
    assert (answer.late, answer.stdout) == (True, "begun\n")
    assert time.monotonic() - begun < 30


def test_a_manifest_names_the_preset(tmp_path: Path) -> None:
    given: BootManifest = manifest(Machine())
    assert Situation(given, None, Recorded({}), "p", root=tmp_path, runtime="other").preset == given.runtime
