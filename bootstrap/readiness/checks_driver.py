"""The driver: cards on the bus, its modules, its version on both sides, the floors that it must reach."""

from __future__ import annotations

import re

from bootstrap.readiness.check import Check, Result, bad, decided, good, not_asked
from bootstrap.readiness.expectation import Expectation
from bootstrap.readiness.read_nvidia import cards, firmware_on, module
from bootstrap.readiness.read_system import (
    PCI_FOLDER,
    installed,
    kernel,
    module_loaded,
    nvidia_devices,
)
from bootstrap.readiness.reading import Unreadable
from bootstrap.readiness.situation import Situation
from nightshift.catalog.cuda import CUDA, at_least, parts
from nightshift.catalog.gpus import Gpu, named

NO_GPU = "the runtime computes on the CPU"
REPLACE = "replace the node: its host shows fewer cards than the type has"
_USERSPACE = re.compile(r"(?:lib)?nvidia-(?:compute|driver|utils)(?:-\d+)?(?:-server)?(?:-open)?(?::\w+)?")


def bus(situation: Situation, expected: Expectation) -> Result:
    """Cards that aren't on the bus can't be helped by any driver."""
    found = nvidia_devices(situation)
    told = f"{len(found)} NVIDIA GPU{'' if len(found) == 1 else 's'} on the PCI bus"
    if not expected.wants_gpu:
        return not_asked(NO_GPU)
    if not found and expected.cards is None:
        return bad(
            "an NVIDIA GPU", "no NVIDIA GPU on the PCI bus: this machine has no GPU", "use one that has"
        )
    wanted = expected.cards or len(found)
    return decided(len(found) == wanted, f"{wanted} on the PCI bus", told, REPLACE)


def modules(situation: Situation, expected: Expectation) -> Result:
    """nvidia and nvidia_uvm, and not nouveau, which takes the cards first."""
    if not expected.wants_gpu:
        return not_asked(NO_GPU)
    wanted = "nvidia and nvidia_uvm loaded, nouveau not"
    if module_loaded(situation, "nouveau"):
        return bad(wanted, "nouveau loaded", "blacklist nouveau, run update-initramfs -u, reboot")
    if not module_loaded(situation, "nvidia"):
        return bad(
            wanted, f"nvidia not loaded{_why_not(situation)}", "install the driver for this kernel, reboot"
        )
    if not module_loaded(situation, "nvidia_uvm") or not situation.has("/dev/nvidia-uvm"):
        return bad(wanted, "nvidia_uvm not loaded or no /dev/nvidia-uvm", "nvidia-modprobe -u -c=0")
    return good(wanted, "nvidia, nvidia_uvm")


def _why_not(situation: Situation) -> str:
    release = kernel(situation)
    if not situation.has(f"/lib/modules/{release}"):
        return f"; no modules of the running kernel {release}"
    if not situation.has(f"/lib/modules/{release}/build"):
        return f"; no headers of the running kernel {release}, so DKMS skipped it"
    return f" in kernel {release}"


def versions(situation: Situation, expected: Expectation) -> Result:
    """Another version on one side of the kernel's border: nothing on the GPU starts."""
    if not expected.wants_gpu:
        return not_asked(NO_GPU)
    inside = module(situation).version
    packaged = _packaged(situation)
    differing = sorted({f"{name} {version}" for name, version in packaged.items() if version != inside})
    wanted = f"module and userspace both {inside}"
    reboot = "reboot: the driver was replaced under the loaded module; then hold its packages"
    if differing:
        return bad(wanted, f"module {inside}, package {', '.join(differing)}", reboot)
    outside = sorted({card.driver for card in cards(situation)})
    return decided(outside == [inside], wanted, f"module {inside}, nvidia-smi {', '.join(outside)}", reboot)


def _packaged(situation: Situation) -> dict[str, str]:
    """The driver's packages by upstream version; none where it came from NVIDIA's own installer."""
    if not situation.has("/usr/bin/dpkg-query"):
        return {}
    return {
        name: version.rpartition(":")[2].partition("-")[0]
        for name, version in installed(situation).items()
        if _USERSPACE.fullmatch(name)
    }


def flavour(situation: Situation, expected: Expectation) -> Result:
    """Blackwell needs the open module, Volta the proprietary one."""
    if not expected.wants_gpu:
        return not_asked(NO_GPU)
    gpu = expected.gpu or _own(situation)
    if gpu is None:
        return not_asked("a card that the catalog doesn't know")
    found = "open" if module(situation).open else "proprietary"
    remedy = f"use an image with the {gpu.module} kernel module"
    return decided(gpu.module in ("either", found), f"{gpu.module} module for {gpu.model}", found, remedy)


def floors(situation: Situation, expected: Expectation) -> Result:
    """Of the card, and of the preset's CUDA; compared part by part."""
    if not expected.wants_gpu:
        return not_asked(NO_GPU)
    version = module(situation).version
    gpu = expected.gpu or _own(situation)
    wanted, problem = [], False
    if gpu:
        wanted.append(_branches(gpu))
        problem |= not _in_branches(gpu, parts(version)[0])
    if expected.runtime and expected.runtime.cuda:
        floor = _floor(expected.runtime.cuda)
        wanted.append(f"{floor} or newer for CUDA {expected.runtime.cuda}")
        problem |= not at_least(version, floor)
    if not wanted:
        return not_asked("neither the card nor the runtime is known beforehand")
    return decided(not problem, ", ".join(wanted), version, "use an image with a driver in that range")


def _floor(cuda: str) -> str:
    if cuda not in CUDA:
        raise Unreadable("the catalog", f"no driver known for CUDA {cuda}")
    return CUDA[cuda].floor


def _branches(gpu: Gpu) -> str:
    last = f" to {gpu.last_branch}" if gpu.last_branch else " or newer"
    return f"branch {gpu.first_branch}{last} for {gpu.model}"


def _in_branches(gpu: Gpu, branch: int) -> bool:
    return gpu.first_branch <= branch and (gpu.last_branch is None or branch <= gpu.last_branch)


def firmware(situation: Situation, expected: Expectation) -> Result:
    """On T4 and A10G, branch 535 hangs with the card's own firmware switched on."""
    gpu = expected.gpu or (_own(situation) if expected.wants_gpu else None)
    if not expected.wants_gpu or gpu is None:
        return not_asked(NO_GPU if not expected.wants_gpu else "a card that the catalog doesn't know")
    branch = parts(module(situation).version)[0]
    if branch not in gpu.gsp_hangs:
        return not_asked(f"no fault known of {gpu.model} on branch {branch}")
    remedy = "options nvidia NVreg_EnableGpuFirmware=0 in /etc/modprobe.d, reboot; or a newer driver"
    on = firmware_on(situation)
    return decided(
        not on, f"GSP firmware off for {gpu.model} on branch {branch}", "on" if on else "off", remedy
    )


def _own(situation: Situation) -> Gpu | None:
    found = cards(situation)
    return named(found[0].name) if found else None


_SMI = "see `nvidia-smi` and `journalctl -k`; a reboot heals a driver replaced under its module"
CHECKS = (
    Check("driver.bus", bus, f"readable {PCI_FOLDER}", "run it where /sys is mounted"),
    Check("driver.modules", modules, "nvidia and nvidia_uvm loaded", "install the driver"),
    Check("driver.versions", versions, "one version of module and userspace", _SMI),
    Check("driver.flavour", flavour, "the kernel module that the card needs", _SMI),
    Check("driver.floors", floors, "a driver new enough", _SMI),
    Check("driver.firmware", firmware, "readable driver parameters", _SMI),
)
