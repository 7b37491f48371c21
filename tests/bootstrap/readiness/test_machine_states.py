"""Every family of the catalog, healthy and with each fault that can befall it: right verdict and reason."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bootstrap.readiness.order import examine
from bootstrap.readiness.read_system import KERNEL_LOG
from bootstrap.readiness.verdict import Finding, judge
from nightshift.catalog.gpus import GPUS
from nightshift.catalog.instance_types import InstanceType, instance_types
from nightshift.emulator.sandbox.machines.description import Machine
from nightshift.emulator.sandbox.machines.outputs import listing
from tests.bootstrap.readiness.support.changes import Fault
from tests.bootstrap.readiness.support.faults import GONE, NOT_SEEN, TABLE
from tests.bootstrap.readiness.support.machines import situation

STORED = Finding("storage", True, "volumes", "volumes", "")
WRITTEN = Finding("record", True, "writable", "writable", "")


def known(kind: InstanceType) -> bool:
    return kind.gpu_count == int(kind.gpu_count) and kind.gpu_model in GPUS


def family(kind: InstanceType) -> str:
    return kind.name.partition(".")[0]


def healthy(kind: InstanceType) -> Machine:
    """With a driver and a runtime that suit it; V100 ends with branch 580."""
    driver = "580.126.09" if kind.gpu_model == "V100" else "595.71.05"
    return Machine(kind.name, driver=driver, efa=bool(kind.efa_max_interfaces))


def representatives() -> Iterator[InstanceType]:
    """Of each family the smallest and the largest type, as they differ in cards and EFA."""
    families: dict[str, list[InstanceType]] = {}
    for kind in instance_types().values():
        families.setdefault(family(kind), []).append(kind)
    for members in families.values():
        ordered = sorted(members, key=lambda kind: (kind.gpu_count, kind.efa_max_interfaces or 0))
        yield from {ordered[0].name: ordered[0], ordered[-1].name: ordered[-1]}.values()


def findings(machine: Machine, root: Path, gone: tuple[str, ...] = ()) -> list[Finding]:
    node = situation(machine, root)
    for name in gone:
        shutil.rmtree(node.path(name))
    return examine(node, lambda _: STORED, lambda _: WRITTEN)


KNOWN = [kind for kind in instance_types().values() if known(kind)]
FAMILIES = [kind for kind in representatives() if known(kind)]


@pytest.mark.parametrize("kind", KNOWN, ids=lambda kind: kind.name)
def test_a_healthy_machine_of_every_type_is_ready(kind: InstanceType, tmp_path: Path) -> None:
    verdict = judge(findings(healthy(kind), tmp_path))
    assert verdict.ready, verdict.says


@pytest.mark.parametrize("fault", TABLE, ids=lambda fault: fault.name)
def test_each_fault_fails_every_type_it_can_befall_and_is_named(fault: Fault, tmp_path: Path) -> None:
    befallen = [kind for kind in FAMILIES if fault.on(healthy(kind))]
    assert befallen
    for kind in befallen:
        found = findings(fault.change(healthy(kind)), tmp_path / kind.name, GONE.get(fault.name, ()))
        verdict = judge(found)
        assert (verdict.ready, verdict.failed) == (False, fault.check), f"{kind.name}: {verdict.says}"
        failed = next(finding for finding in found if not finding.passed)
        assert fault.says in f"expected {failed.expected}, found {failed.found}", kind.name
        assert failed.remedy


def test_every_known_type_is_held_against_every_fault_it_can_have() -> None:
    """The figure that the report names: states times faults."""
    states = sum(fault.on(healthy(kind)) for kind in FAMILIES for fault in TABLE)
    assert len({family(kind) for kind in FAMILIES}) == 17
    assert len(TABLE) >= 90
    assert states > 2_000


def test_every_report_of_the_facts_is_a_fault_here_or_named_as_one_no_node_can_see() -> None:
    seen = {report for fault in TABLE for report in fault.reports}
    assert seen.isdisjoint(NOT_SEEN)
    assert seen | NOT_SEEN.keys() == set(range(1, 41)) - {3, 13, 16, 19, 24, 30}


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("p6e-gb200.36xlarge", "p6e-gb200.36xlarge with GB200"),
        ("g6f.large", "g6f.large with 0.125 of a L4"),
        ("gr6f.4xlarge", "0.5 of a L4"),
        ("p7.48xlarge", 'given "p7.48xlarge", which the catalog doesn\'t know'),
        ("t3.micro", 'given "t3.micro"'),
    ],
)
def test_a_type_whose_needs_are_not_known_fails(kind: str, words: str, tmp_path: Path) -> None:
    node = situation(Machine("g6.12xlarge", efa=False), tmp_path)
    assert node.manifest is not None
    assert node.instance is not None
    node = replace(
        node,
        manifest=replace(node.manifest, instance_types=(kind,)),
        instance=replace(node.instance, type=kind),
    )
    found = examine(node, lambda _: STORED, lambda _: WRITTEN)
    verdict = judge(found)
    assert (verdict.ready, verdict.failed) == (False, "identity.type")
    assert words in verdict.says
    assert not any(finding.passed for finding in found)


def test_every_family_of_the_catalog_is_either_judged_or_refused() -> None:
    judged = {family(kind) for kind in FAMILIES}
    assert {family(kind) for kind in instance_types().values()} - judged == {"p6e-gb200", "g6f", "gr6f"}


def test_harmless_errors_of_programs_leave_a_node_ready(tmp_path: Path) -> None:
    lines = (
        "[ 10.1] NVRM: Xid (PCI:0000:10:00): 13, pid=77, name=python3, Graphics Exception\n"
        "[ 11.1] NVRM: Xid (PCI:0000:10:00): 154, GPU recovery action changed "
        "from 0x1 (GPU Reset Required) to 0x0 (None)\n"
    )
    machine = replace(Machine("g6.12xlarge", efa=False), changed={KERNEL_LOG: listing(lines)})
    assert judge(findings(machine, tmp_path)).ready


@pytest.mark.parametrize(
    ("kind", "runtime", "driver", "words"),
    [
        ("p6-b200.48xlarge", "torch-2.6-cu124", "595.71.05", "none for 10.0"),
        ("g7e.2xlarge", "torch-2.6-cu124", "595.71.05", "none for 12.0"),
        ("p3.2xlarge", "torch-2.15-cu132", "580.126.09", "none for 7.0"),
    ],
)
def test_a_runtime_without_code_for_the_card_is_named(
    kind: str, runtime: str, driver: str, words: str, tmp_path: Path
) -> None:
    verdict = judge(findings(Machine(kind, runtime=runtime, driver=driver, efa=False), tmp_path))
    assert (verdict.ready, verdict.failed) == (False, "runtime.archs")
    assert words in verdict.says


@pytest.mark.parametrize("runtime", ["torch-2.6-cu124", "torch-2.8-cu128", "torch-2.15-cu132"])
def test_l4_needs_no_code_of_its_own_number(runtime: str, tmp_path: Path) -> None:
    assert judge(findings(Machine("g6.2xlarge", runtime=runtime, efa=False), tmp_path)).ready
