"""Real block devices with everything that may be on them: only what is blank and ours is ever formatted."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from bootstrap.storage.outcome import AttachReport
from bootstrap.storage.superblock import read_span
from nightshift.emulator.sandbox.devices import GIB, sh
from tests.bootstrap.storage.support.bench import Bench, Filesystem
from tests.bootstrap.storage.support.machine import SHORT

pytestmark = pytest.mark.node
BOTH: tuple[Filesystem, ...] = ("xfs", "ext4")


def may_grow_mounted() -> bool:
    """ext4 asks for CAP_SYS_RESOURCE, bit 24, which containers often lack."""
    status = Path("/proc/self/status").read_text()
    return bool(int(status.split("CapEff:")[1].split()[0], 16) >> 24 & 1)


def refused(node: Bench, report: AttachReport, *words: str) -> None:
    """The finding says so, nothing is mounted, nothing is held, and not one byte was written."""
    assert not report.ready
    found = report.problems[0]
    for word in words:
        assert word in f"{found.expected} | {found.found} | {found.remedy}"
    assert not os.path.ismount(node.path)
    assert node.site.volumes["vol-0abc"].state == "available"


@pytest.mark.parametrize("filesystem", BOTH)
def test_a_blank_volume_is_formatted_once_and_kept_ever_after(node: Bench, filesystem: Filesystem) -> None:
    first = node.attach(filesystem)
    assert first.ready, first.problems
    (volume,) = first.volumes
    assert (volume.was, volume.formatted, volume.grown) == ("blank", True, False)
    assert sh("findmnt", "-no", "FSTYPE", str(node.path)) == filesystem
    (node.path / "kept").write_text("step 1")
    assert node.release().clean
    again = node.attach(filesystem)
    assert (again.volumes[0].was, again.volumes[0].formatted) == ("formatted", False)
    assert (node.path / "kept").read_text() == "step 1"


@pytest.mark.parametrize("filesystem", BOTH)
def test_a_volume_that_was_formatted_elsewhere_is_mounted_whatever_is_declared(
    node: Bench, filesystem: Filesystem
) -> None:
    sh(f"mkfs.{filesystem}", "-q", node.disk.loop)
    report = node.attach(filesystem, blank=False)
    assert report.ready, report.problems
    assert (report.volumes[0].was, report.volumes[0].formatted) == ("formatted", False)


def test_a_restarted_agent_finds_its_volume_mounted_and_goes_on(node: Bench) -> None:
    assert node.attach().ready
    (node.path / "open").write_text("x")
    with (node.path / "open").open() as held:
        again = node.attach()
        assert held.read() == "x"
    assert again.ready
    assert again.volumes[0].was == "mounted"
    assert [event[0] for event in node.site.events] == ["attach"]


def test_an_agent_that_died_between_attach_and_mount_goes_on(node: Bench) -> None:
    node.aws.attach_volume(node.disk.id, "/dev/sdf")
    report = node.attach()
    assert report.ready, report.problems
    assert report.volumes[0].formatted


def test_a_blank_volume_that_we_did_not_make_is_never_formatted(node: Bench) -> None:
    before = node.disk.content()
    refused(node, node.attach(blank=False), "wasn't made blank by us", "blank:")
    assert node.disk.content() == before


@pytest.mark.parametrize(
    "make",
    [("mkfs.ext4", "-q"), ("mkfs.ext2", "-q"), ("mkswap",)],
    ids=["ext4-for-xfs", "ext2", "swap"],
)
def test_a_foreign_filesystem_is_refused(node: Bench, make: tuple[str, ...]) -> None:
    sh(*make, node.disk.loop)
    before = node.disk.content()
    refused(node, node.attach("xfs"), "foreign", "retire")
    assert node.disk.content() == before


@pytest.mark.parametrize("table", ["gpt", "dos"])
def test_a_partitioned_device_is_refused(node: Bench, table: str) -> None:
    subprocess.run(
        ["sfdisk", "-q", node.disk.loop],
        input=f"label: {table}\n,,\n",
        text=True,
        check=True,
        capture_output=True,
    )
    before = node.disk.content()
    for filesystem in BOTH:
        refused(node, node.attach(filesystem), "partitioned", table)
    assert node.disk.content() == before


@pytest.mark.parametrize("where", [0, 4096, 300 << 20, GIB - 4096], ids=["head", "4k", "middle", "tail"])
def test_random_bytes_are_refused_wherever_a_probe_meets_them(node: Bench, where: int) -> None:
    size = 4096 if where != 300 << 20 else 64 << 20
    node.disk.write(where, os.urandom(size))
    before = node.disk.content()
    refused(node, node.attach(), "unknown", "no known signature")
    assert node.disk.content() == before


def test_a_blank_device_of_another_size_is_refused(node: Bench) -> None:
    node.disk.grow(2 * GIB)
    refused(node, node.attach(), "unreadable", "where EC2 says")


def test_a_device_with_another_serial_is_refused_at_once(node: Bench) -> None:
    node.plug = False
    node.machine.plug(node.disk, serial="vol0def")
    refused(node, node.attach(), "the link of vol0abc leads to", "vol0def")


def test_an_instance_store_disk_is_refused(node: Bench) -> None:
    node.plug = False
    node.machine.plug(node.disk, model="Amazon EC2 NVMe Instance Storage")
    refused(node, node.attach(), "Amazon EC2 NVMe Instance Storage")


def test_a_device_that_never_comes_is_waited_for_no_longer_than_said(node: Bench) -> None:
    node.plug = False
    report = node.attach(place=node.place(replace(SHORT, device_s=0.5)))
    refused(node, report, "a device with serial vol0abc within 0.5 s", "only none")
    assert 0.5 <= report.seconds < 3


def test_a_device_that_comes_late_is_found(node: Bench) -> None:
    node.plug = False
    late = node.machine.plug_later(node.disk, 0.5)
    report = node.attach()
    late.join()
    assert report.ready, report.problems
    found = next(step for step in report.volumes[0].steps if step.name == "find")
    assert found.seconds >= 0.4


def test_a_device_without_a_link_of_udev_is_found_by_its_serial(node: Bench) -> None:
    node.plug = False
    node.machine.plug(node.disk, link=False)
    assert node.attach().ready


@pytest.mark.parametrize("filesystem", BOTH)
def test_a_volume_that_grew_is_grown_on_the_next_boot_and_under_a_running_node(
    node: Bench, filesystem: Filesystem
) -> None:
    assert node.attach(filesystem).ready
    (node.path / "kept").write_text("x")
    assert node.release().clean
    for size in (2, 3):
        node.disk.grow(size * GIB)
        node.site.volumes[node.disk.id] = replace(node.site.volumes[node.disk.id], size_gib=size)
        report = node.attach(filesystem)
        assert report.ready, report.problems
        assert report.volumes[0].grown
        assert os.statvfs(node.path).f_blocks * os.statvfs(node.path).f_frsize > (size - 0.2) * GIB
        assert not node.attach(filesystem).volumes[0].grown
        assert (node.path / "kept").read_text() == "x"
        if filesystem == "ext4" and not may_grow_mounted():
            assert node.release().clean
    assert node.release().clean
    spans = read_span(node.disk.loop, filesystem)
    assert spans is not None
    assert 3 * GIB - (8 << 20) < spans.size <= 3 * GIB - (1 << 20)


@pytest.mark.parametrize("filesystem", BOTH)
def test_a_damaged_filesystem_is_neither_mounted_nor_formatted(node: Bench, filesystem: Filesystem) -> None:
    assert node.attach(filesystem).ready
    (node.path / "kept").write_text("x")
    assert node.release().clean
    node.disk.write(4096 if filesystem == "ext4" else 512, os.urandom(60 << 10))
    before = sh("blkid", "-p", node.disk.loop)
    refused(node, node.attach(filesystem), "snapshot")
    assert sh("blkid", "-p", node.disk.loop) == before


def test_a_device_that_another_namespace_has_mounted_is_refused(node: Bench) -> None:
    sh("mkfs.xfs", "-q", node.disk.loop)
    elsewhere = node.folder / "elsewhere"
    elsewhere.mkdir()
    script = f"mount {node.disk.loop} {elsewhere} && echo up && exec sleep 60"
    with subprocess.Popen(["unshare", "-m", "sh", "-c", script], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"up\n"
        report = node.attach()
        other.kill()
    assert not report.ready
    assert "in use" in report.problems[0].found
