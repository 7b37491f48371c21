"""Faults of what a node is, of its packages, and of its driver."""

from __future__ import annotations

from dataclasses import replace

from bootstrap.readiness import read_nvidia, read_system
from bootstrap.readiness.checks_packages import APT_UNITS, BLACKLIST
from bootstrap.readiness.commands import Answer, whole
from nightshift.emulator.sandbox.machines import outputs
from nightshift.emulator.sandbox.machines.outputs import listing
from tests.bootstrap.readiness.support.changes import Fault, answering, failing, gsp, said, with_paths

MISMATCH = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 595.91\n"
TABLE = (
    Fault(
        "the clock isn't synchronized",
        "identity.clock",
        "not synchronized after 60 s",
        said(read_system.CLOCK, "NTPSynchronized=no\n"),
    ),
    Fault(
        "the own name is a loopback address",
        "identity.name",
        "127.0.1.1",
        said(whole(("getent", "ahostsv4", "ip-10-0-1-5")), "127.0.1.1       STREAM ip-10-0-1-5\n"),
        reports=(35,),
    ),
    Fault(
        "unattended upgrades may run",
        "packages.held",
        "apt-daily.timer loaded and active",
        said(outputs.show(APT_UNITS), outputs.unit_blocks(APT_UNITS, "loaded", "active")),
        reports=(1, 2),
    ),
    Fault(
        "a hold on one package only",
        "packages.held",
        "not on the blacklist: libnvidia-compute-580",
        lambda machine: said(BLACKLIST, 'Unattended-Upgrade::Package-Blacklist:: "nvidia-";\n')(
            said(outputs.show(APT_UNITS), outputs.unit_blocks(APT_UNITS, "loaded", "inactive"))(machine)
        ),
        reports=(2,),
    ),
    Fault(
        "a card is gone from the bus",
        "driver.bus",
        "PCI bus",
        lambda machine: replace(machine, pci=machine.cards - 1),
        reports=(39,),
    ),
    Fault(
        "nouveau took the cards",
        "driver.modules",
        "nouveau loaded",
        with_paths({"/sys/module/nouveau/initstate": "live\n"}),
        reports=(7,),
    ),
    Fault(
        "the module wasn't built, for want of headers",
        "driver.modules",
        "no headers of the running kernel",
        lambda m: m,
        reports=(4,),
    ),
    Fault(
        "a kernel without modules",
        "driver.modules",
        "no modules of the running kernel",
        lambda m: m,
        reports=(6,),
    ),
    Fault("nvidia_uvm isn't loaded", "driver.modules", "nvidia_uvm not loaded", lambda m: m, reports=(8,)),
    Fault(
        "userspace upgraded under the module",
        "driver.versions",
        "595.99.01",
        answering(read_system.PACKAGES, lambda m: listing(outputs.packages_text(m, "595.99.01"))),
        reports=(1,),
    ),
    Fault(
        "NVML refuses another version",
        "driver.versions",
        "Driver/library version mismatch",
        failing(read_nvidia.CARDS, 18, MISMATCH),
        reports=(1,),
    ),
    Fault(
        "nvidia-smi has another version",
        "driver.versions",
        "nvidia-smi 550.54.15",
        lambda m: replace(m, smi_driver="550.54.15"),
        reports=(1,),
    ),
    Fault(
        "nvidia-smi fails though it prints",
        "driver.versions",
        "exit 9",
        answering(read_nvidia.CARDS, lambda m: Answer(9, outputs.smi(m))),
        reports=(5,),
    ),
    Fault(
        "nvidia-smi can't reach the driver",
        "driver.versions",
        "couldn't communicate",
        failing(
            read_nvidia.CARDS,
            9,
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
        ),
        reports=(5,),
    ),
    Fault(
        "the proprietary module on Blackwell",
        "driver.flavour",
        "proprietary",
        lambda m: replace(m, open_module=False),
        lambda m: m.gpu.module == "open",
    ),
    Fault(
        "the open module on Volta",
        "driver.flavour",
        "open",
        lambda m: replace(m, open_module=True),
        lambda m: m.gpu.module == "proprietary",
    ),
    Fault(
        "a driver below CUDA's floor by its last part",
        "driver.floors",
        "525.60.11",
        lambda m: replace(m, driver="525.60.11"),
    ),
    Fault(
        "a driver that doesn't know the card",
        "driver.floors",
        "branch",
        lambda m: replace(m, driver=f"{m.gpu.first_branch - 1}.10.01"),
        lambda m: m.gpu.first_branch > 550,
        reports=(29,),
    ),
    Fault(
        "a driver that has dropped the card",
        "driver.floors",
        "branch 525 to 580 for V100",
        lambda m: replace(m, driver="595.71.05"),
        lambda m: m.gpu.last_branch is not None,
    ),
    Fault(
        "GSP firmware on branch 535",
        "driver.firmware",
        "found on",
        lambda m: replace(m, driver="535.183.01"),
        gsp,
        reports=(28,),
    ),
)
