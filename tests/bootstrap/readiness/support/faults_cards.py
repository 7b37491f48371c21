"""Faults of the cards and of their fabric."""

from __future__ import annotations

from dataclasses import replace

from bootstrap.readiness import read_nvidia
from bootstrap.readiness.checks_fabric import UNIT
from bootstrap.readiness.commands import Answer
from nightshift.emulator.sandbox.machines import outputs
from nightshift.emulator.sandbox.machines.outputs import listing
from tests.bootstrap.readiness.support.changes import (
    Fault,
    ampere,
    answering,
    blackwell,
    many,
    said,
    switched,
    with_cells,
    with_paths,
    xid,
)

TABLE = (
    Fault(
        "nvidia-smi lists one card less",
        "driver.count",
        "GPUs in nvidia-smi",
        lambda m: replace(m, listed=m.cards - 1),
        many,
        reports=(39,),
    ),
    Fault(
        "another card than the type's",
        "driver.model",
        "NVIDIA RTX A6000",
        with_cells(name="NVIDIA RTX A6000"),
    ),
    Fault("a card with half its memory", "driver.model", "8192 MiB", with_cells(memory__total="8192")),
    Fault(
        "persistence mode is off", "driver.persistence", "off on GPU", with_cells(persistence_mode="Disabled")
    ),
    Fault(
        "a card is cut by MIG",
        "driver.partitions",
        "on for GPU",
        with_cells(mig__mode__current="Enabled"),
        ampere,
    ),
    Fault(
        "uncorrected ECC errors",
        "driver.memory",
        "3 uncorrected",
        with_cells(ecc__errors__uncorrected__volatile__total="3"),
        reports=(39,),
    ),
    Fault(
        "a page waits for its retirement",
        "driver.memory",
        "page retirement pending",
        answering(
            read_nvidia.PAGES,
            lambda m: Answer(0, "".join(f"{index}, Yes\n" for index in range(m.cards))),
        ),
        lambda machine: not ampere(machine),
        reports=(39,),
    ),
    Fault(
        "ECC changes with the next reset",
        "driver.memory",
        "after the next reset Disabled",
        with_cells(ecc__mode__pending="Disabled"),
    ),
    Fault(
        "a row waits for its remapping",
        "driver.memory",
        "remapping pending",
        answering(
            read_nvidia.ROWS,
            lambda m: Answer(0, "GPU-00000001, No, No\n" * (m.cards - 1) + "GPU-00000002, Yes, No\n"),
        ),
        ampere,
        (39,),
    ),
    Fault(
        "a row couldn't be remapped",
        "driver.memory",
        "remapping failed",
        answering(
            read_nvidia.ROWS,
            lambda m: Answer(0, "GPU-00000001, No, No\n" * (m.cards - 1) + "GPU-00000002, 0, 1\n"),
        ),
        ampere,
        (39,),
    ),
    *(
        Fault(
            f"Xid {code}",
            "driver.xid",
            f"Xid {code} on 0000:10:00",
            xid(code, "pid='<unknown>', name=<unknown>, something"),
            reports=(28, 39) if code in (119, 120) else (39,),
        )
        for code in (48, 54, 64, 74, 79, 95, 119, 120, 140)
    ),
    Fault("an Xid that no table has", "driver.xid", "Xid 999", xid(999, "pid=1, name=x, new"), reports=(39,)),
    Fault(
        "an Xid that advises a reboot",
        "driver.xid",
        "Node Reboot Required",
        xid(154, "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"),
        reports=(39,),
    ),
    Fault(
        "the fabric manager isn't there",
        "fabric.manager",
        "not installed",
        said(outputs.show((UNIT,)), outputs.unit_blocks((UNIT,), "not-found", "inactive")),
        switched,
        (12,),
    ),
    Fault(
        "the fabric manager died",
        "fabric.manager",
        "loaded and failed",
        said(outputs.show((UNIT,)), outputs.unit_blocks((UNIT,), "loaded", "failed")),
        switched,
        (14,),
    ),
    Fault(
        "the fabric manager's last digit differs",
        "fabric.version",
        "595.71.04",
        said(read_nvidia.MANAGER, "Fabric Manager version is : 595.71.04\n"),
        switched,
        (12,),
    ),
    Fault(
        "the switches' subnet manager isn't there",
        "fabric.subnet_manager",
        "no nvlsm",
        with_paths({"/opt/nvidia/nvlsm/sbin/nvlsm": None}),
        blackwell,
    ),
    Fault(
        "ib_umad isn't loaded",
        "fabric.subnet_manager",
        "no module ib_umad",
        with_paths({"/sys/module/ib_umad/initstate": None}),
        blackwell,
    ),
    Fault(
        "the fabric is never joined",
        "fabric.state",
        "In Progress",
        answering(read_nvidia.FABRIC, lambda m: Answer(0, outputs.fabric_rows(m, "In Progress", "N/A"))),
        switched,
        (12,),
    ),
    Fault(
        "the fabric was never started",
        "fabric.state",
        "Not Started",
        answering(read_nvidia.FABRIC, lambda m: Answer(0, outputs.fabric_rows(m, "Not Started", "N/A"))),
        switched,
        (12, 14),
    ),
    Fault(
        "the fabric ended in an error",
        "fabric.state",
        "Completed, Insufficient Resources",
        answering(
            read_nvidia.FABRIC,
            lambda m: Answer(0, outputs.fabric_rows(m, "Completed", "Insufficient Resources")),
        ),
        switched,
    ),
    Fault(
        "an NVLink is down",
        "fabric.links",
        "1 down",
        answering(read_nvidia.LINKS, lambda m: listing(outputs.links_text(m, 1))),
        switched,
    ),
)
