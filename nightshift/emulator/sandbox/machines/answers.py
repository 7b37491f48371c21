"""A machine from its description: the files and the answers that the checks see on it."""

from __future__ import annotations

from bootstrap.readiness import read_nvidia, read_system
from bootstrap.readiness.checks_efa import FI_INFO, INSTALLED_FILE, NETWORK
from bootstrap.readiness.checks_fabric import UNIT
from bootstrap.readiness.checks_packages import APT_UNITS, BLACKLIST
from bootstrap.readiness.commands import Answer, Command, whole
from bootstrap.readiness.read_probe import collective_command, kernels_command, runtime_command
from nightshift.emulator.sandbox.machines.description import KERNEL, PLUGIN, PYTHON, Machine
from nightshift.emulator.sandbox.machines.outputs import (
    collective_answer,
    data,
    efa_name,
    fabric_rows,
    fi_info_text,
    kernels_answer,
    limits,
    links_text,
    listing,
    module_text,
    network_answer,
    packages_text,
    runtime_answer,
    show,
    smi,
    unit_blocks,
)


def files(machine: Machine) -> dict[str, str]:
    """Small files that the checks read, healthy for this description."""
    pci = machine.cards if machine.pci is None else machine.pci
    found = {
        f"/sys/bus/pci/devices/0000:{0x10 + index:02x}:00.0/{name}": f"{value}\n"
        for index in range(pci)
        for name, value in (("vendor", "0x10de"), ("class", "0x030200"))
    }
    found["/sys/bus/pci/devices/0000:00:05.0/vendor"] = "0x1d0f\n"
    if machine.switched:
        found["/sys/bus/pci/devices/0000:80:00.0/vendor"] = "0x10de\n"
        found["/sys/bus/pci/devices/0000:80:00.0/class"] = "0x068000\n"
    for module in ("nvidia", "nvidia_uvm", "ib_umad", "efa", "ib_uverbs", "ib_core"):
        found[f"/sys/module/{module}/initstate"] = "live\n"
    for index in range(machine.efa_devices):
        found[f"/sys/class/infiniband/{efa_name(index)}/node_guid"] = f"{index:016x}\n"
    return found | {
        "/dev/nvidia-uvm": "",
        "/proc/driver/nvidia/version": module_text(machine),
        "/proc/driver/nvidia/params": "ResmanDebugLevel: 4294967295\nEnableGpuFirmware: 18\n",
        "/proc/sys/kernel/osrelease": f"{KERNEL}\n",
        "/proc/sys/kernel/hostname": "ip-10-0-1-5\n",
        "/proc/self/limits": limits(),
        "/usr/bin/apt-get": "",
        "/usr/bin/dpkg-query": "",
        f"/lib/modules/{KERNEL}/build/Makefile": "",
        "/opt/nvidia/nvlsm/sbin/nvlsm": "",
        FI_INFO: "",
        PLUGIN: "",
        INSTALLED_FILE: "# EFA installer version: 1.50.0\n# Debug packages installed: no\n"
        "# Packages installed:\nlibfabric-aws-bin_2.4.0amzn1.0_amd64\nlibnccl-ofi_1.21.1-1_amd64\n",
    }


def answers(machine: Machine) -> dict[Command, Answer | tuple[Answer, ...]]:
    """Everything that a healthy machine of this description answers, with `changed` laid over it."""
    names = [efa_name(index) for index in range(machine.efa_devices)]
    count = machine.cards if machine.listed is None else machine.listed
    rows = "".join(f"GPU-{index:08x}, No, No\n" for index in range(count))
    healthy: dict[Command, Answer | tuple[Answer, ...]] = {
        read_nvidia.CARDS: Answer(0, smi(machine)),
        read_nvidia.PAGES: Answer(0, "".join(f"{index}, No\n" for index in range(count))),
        read_nvidia.ROWS: Answer(0, rows),
        read_nvidia.FABRIC: Answer(0, fabric_rows(machine, "Completed", "Success")),
        read_nvidia.LINKS: listing(links_text(machine)),
        read_nvidia.MANAGER: Answer(0, f"Fabric Manager version is : {machine.driver}\n"),
        read_system.KERNEL_LOG: listing(
            "[    0.000000] Linux version 6.8.0-1060-aws\n[    9.1] nvidia: loading\n"
        ),
        read_system.PACKAGES: listing(packages_text(machine)),
        read_system.LOADER_CACHE: listing(
            "2 libs found in cache `/etc/ld.so.cache'\n\tlibz.so.1 (libc6,x86-64) => /lib/libz.so.1\n"
            "\tlibcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1\n"
        ),
        read_system.CLOCK: Answer(0, "NTPSynchronized=yes\n"),
        whole(("getent", "ahostsv4", "ip-10-0-1-5")): listing("10.0.1.5        STREAM ip-10-0-1-5\n"),
        show(APT_UNITS): Answer(0, unit_blocks(APT_UNITS, "masked", "inactive")),
        show((UNIT,)): Answer(0, unit_blocks((UNIT,), "loaded", "active")),
        BLACKLIST: listing(""),
        whole((FI_INFO, "-p", "efa")): listing(fi_info_text(names)),
        whole(("ldd", PLUGIN)): listing(
            "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibhwloc.so.15 => /lib/libhwloc.so.15 (0x00007f01)\n"
        ),
        ("df", "-Pk", "/dev/shm"): Answer(
            0,
            "Filesystem     1024-blocks  Used Available Capacity Mounted on\n"
            "tmpfs             98566144     0  98566144       0% /dev/shm\n",
        ),
        runtime_command(PYTHON): data(runtime_answer(machine)),
        kernels_command(PYTHON): data(kernels_answer(machine)),
        collective_command(PYTHON): data(collective_answer(machine)),
        collective_command(PYTHON, NETWORK): data(network_answer(machine)),
    }
    return healthy | dict(machine.changed)
