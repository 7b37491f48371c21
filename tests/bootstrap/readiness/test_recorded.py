"""The readers on texts as real programs print them, and on what this machine's own programs say now."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from bootstrap.readiness import read_nvidia, read_system
from bootstrap.readiness.commands import Answer, Recorded, Shell, marked
from bootstrap.readiness.reading import Unreadable
from bootstrap.readiness.situation import Situation
from bootstrap.readiness.symptoms import explained

PROPRIETARY = (
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n"
    "GCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04) \n"
)
OPEN = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.126.09  Release Build  "
    "(dvs-builder@U22-I3-AM24-07-3)  Wed Jan  7 22:33:56 UTC 2026\nGCC version:  gcc version 12.3.0\n"
)
ARM = "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  595.91.07  Release Build  (x@y)  Mon\n"
XIDS = (
    "[   41.2] nvidia-nvlink: Nvlink Core is being initialized, major device number 511\n"
    "[  912.7] NVRM: GPU at PCI:0000:00:1e: GPU-bd2f0e4c-1111-2222-3333-444455556666\n"
    "[  912.7] NVRM: Xid (PCI:0000:00:1e): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    "[  913.0] NVRM: Xid (PCI:0000:00:1f.0): 119, pid=1234, name=python3, Timeout after 6s of RPC\n"
)


def machine(tmp_path: Path, **commands: Answer) -> Situation:
    names = {"dmesg": read_system.KERNEL_LOG, "links": read_nvidia.LINKS, "cards": read_nvidia.CARDS}
    given = {names[name]: answer for name, answer in commands.items()}
    return Situation(None, None, Recorded(given), "python3", root=tmp_path)


@pytest.mark.parametrize(
    ("text", "version", "is_open"),
    [(PROPRIETARY, "535.183.01", False), (OPEN, "580.126.09", True), (ARM, "595.91.07", True)],
)
def test_the_module_s_own_line_names_version_and_flavour(
    text: str, version: str, is_open: bool, tmp_path: Path
) -> None:
    path = tmp_path / "proc/driver/nvidia/version"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert read_nvidia.module(machine(tmp_path)) == read_nvidia.Module(version, is_open)


def test_errors_of_cards_are_found_among_other_lines(tmp_path: Path) -> None:
    found = read_system.xids(machine(tmp_path, dmesg=Answer(0, marked(XIDS))))
    assert [(xid.card, xid.code) for xid in found] == [("0000:00:1e", 79), ("0000:00:1f.0", 119)]
    assert "fallen off the bus" in found[0].text


@pytest.mark.parametrize(
    "line",
    [
        "0, NVIDIA A10G, [Unknown Error], 8.6, 23028, Enabled, Enabled, 0, [N/A], Enabled",
        "0, NVIDIA A10G, 595.71.05, 8.6, [GPU requires reset], Enabled, Enabled, 0, [N/A], Enabled",
        "0, NVIDIA A10G, 595.71.05, 8.6, 23028, ERR!, Enabled, 0, [N/A], Enabled",
        "0, NVIDIA A10G, 595.71.05, 8.6, 23028, Enabled, Enabled, 0, [N/A], Enabled, more",
        "1, NVIDIA A10G, 595.71.05, 8.6, 23028, Enabled, Enabled, 0, [N/A], Enabled",
        "No devices were found",
        'Field "compute_cap" is not a valid field to query.',
    ],
)
def test_a_card_that_says_something_else_is_unreadable(line: str, tmp_path: Path) -> None:
    with pytest.raises(Unreadable):
        read_nvidia.cards(machine(tmp_path, cards=Answer(0, f"{line}\n")))


def test_inactive_links_are_counted_apart(tmp_path: Path) -> None:
    text = (
        "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5a1a8a7e-aaaa-bbbb-cccc-0123456789ab)\n"
        "\t Link 0: 25 GB/s\n\t Link 1: <inactive>\n"
        "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-5a1a8a7e-aaaa-bbbb-cccc-0123456789ac)\n"
        "\t Link 0: 25 GB/s\n\t Link 1: 25 GB/s\n"
    )
    assert read_nvidia.links(machine(tmp_path, links=Answer(0, marked(text)))) == ((1, 1), (2, 0))


def test_a_text_that_no_table_has_is_told_as_it_is() -> None:
    assert explained("RuntimeError: something new").found == '"RuntimeError: something new"'


def here() -> Situation:
    return Situation(None, None, Shell(), sys.executable)


def needs(program: str) -> None:
    if shutil.which(program, path="/usr/sbin:/sbin:/usr/bin:/bin") is None:
        pytest.skip(f"no {program} on this machine")


@pytest.mark.node
def test_this_machine_s_packages_are_read_to_the_last() -> None:
    needs("dpkg-query")
    assert "dpkg" in read_system.installed(here())


@pytest.mark.node
def test_this_machine_s_loader_cache_is_read() -> None:
    needs("ldconfig")
    assert any(line.startswith("libc.so.6 ") for line in read_system.cached_libraries(here()))


@pytest.mark.node
def test_this_machine_s_limits_and_bus_are_read() -> None:
    assert read_system.hard_limit(here(), "Max open files") > 0
    assert read_system.hard_limit(here(), "Max locked memory") > 0
    assert isinstance(read_system.nvidia_devices(here()), tuple)
    assert read_system.kernel(here())
