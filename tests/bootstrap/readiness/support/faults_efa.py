"""Faults of EFA."""

from __future__ import annotations

from dataclasses import replace

from bootstrap.readiness import read_system
from bootstrap.readiness.checks_efa import FI_INFO, INSTALLED_FILE
from bootstrap.readiness.commands import whole
from nightshift.emulator.sandbox.machines import outputs
from nightshift.emulator.sandbox.machines.description import PLUGIN
from tests.bootstrap.readiness.support.changes import (
    Fault,
    failing,
    networking,
    said,
    with_efa,
    with_paths,
)

OLD_PLUGIN = "# EFA installer version: 1.47.0\nlibnccl-ofi_1.18.0-1_amd64\n"
TABLE = (
    Fault(
        "a plugin of a version that is none",
        "efa.plugin",
        "1.21.1amzn1",
        lambda m: with_paths({INSTALLED_FILE: "# EFA installer version: 1.50.0\n"})(
            said(read_system.PACKAGES, "ii |libnccl-ofi|1.21.1amzn1-1\n")(m)
        ),
        with_efa,
    ),
    Fault(
        "fewer EFA devices than the type has",
        "efa.devices",
        "EFA devices",
        lambda m: replace(m, devices=m.efa_devices - 1),
        with_efa,
        (33,),
    ),
    Fault(
        "the EFA module isn't loaded",
        "efa.devices",
        "no efa",
        with_paths({"/sys/module/efa/initstate": None}),
        with_efa,
        (33,),
    ),
    Fault(
        "little lockable memory",
        "efa.memlock",
        "8388608 bytes",
        with_paths({"/proc/self/limits": outputs.limits(locked="8388608")}),
        with_efa,
    ),
    Fault(
        "libfabric sees no EFA",
        "efa.provider",
        "fi_getinfo: -61",
        failing(whole((FI_INFO, "-p", "efa")), 61, "fi_getinfo: -61 (No data available)\n"),
        with_efa,
        (33,),
    ),
    Fault(
        "the plugin isn't there",
        "efa.plugin",
        "no libnccl-net.so",
        with_paths({PLUGIN: None}),
        with_efa,
        (31,),
    ),
    Fault(
        "a plugin that hangs in broadcasts",
        "efa.plugin",
        "1.18.0",
        with_paths({INSTALLED_FILE: OLD_PLUGIN}),
        with_efa,
        (34,),
    ),
    Fault(
        "an installer that brings such a plugin",
        "efa.plugin",
        "EFA installer 1.48.0",
        with_paths({INSTALLED_FILE: "# EFA installer version: 1.48.0\n"}),
        with_efa,
        (34,),
    ),
    Fault(
        "a library of the plugin isn't there",
        "efa.dependencies",
        "libhwloc.so.15",
        said(
            whole(("ldd", PLUGIN)),
            "\tlibhwloc.so.15 => not found\n\tlibc.so.6 => /lib/libc.so.6 (0x00007f01)\n",
        ),
        with_efa,
        (32,),
    ),
    Fault(
        "NCCL falls back to sockets",
        "efa.network",
        "Using network Socket",
        networking(network=["Using network Socket"]),
        with_efa,
        (31,),
    ),
    Fault(
        "NCCL can't load the plugin",
        "efa.network",
        "no plugin for the network",
        networking(
            finished=0,
            correct=False,
            error="DistBackendError: NCCL error: Failed to initialize any NET plugin",
        ),
        with_efa,
        (31, 32),
    ),
    Fault(
        "NCCL says nothing of a network",
        "efa.network",
        "no line of NCCL's log",
        networking(),
        with_efa,
        (31,),
    ),
)
