"""Reads a device for `examine`: blkid's low-level probe, the bytes where data would be, our own mark."""

from __future__ import annotations

import os
from collections.abc import Mapping

from bootstrap.commands import MISSING, TIMED_OUT, Ran
from bootstrap.storage.devices import Device, size_of
from bootstrap.storage.examine import MARK_SIZE, MIB, RESERVE, Mark, Observation, mark_offset, read_mark
from bootstrap.storage.place import Place

EDGE = 4 * MIB
"""Read whole at both ends: superblocks, partition tables and their copies, RAID and LVM labels."""
PROBE = 4096
SPREAD = 1024
"""Probes between the ends, evenly spread: about a second of a gp3 volume's 3,000 IOPS."""


def probe_offsets(size: int) -> tuple[int, ...]:
    """Where PROBE bytes are read between the edges: spread evenly, and where filesystems keep copies.

    ext4 keeps superblocks at groups 1, 3, 5, 7, 9, 25, ... of 8, 16 or 128 MiB; xfs begins each allocation
    group with one, four groups by default; btrfs has copies at 64 MiB and 256 GiB.
    """
    spread = {size * number // (SPREAD + 1) // PROBE * PROBE for number in range(1, SPREAD + 1)}
    groups = {8 * MIB, 16 * MIB, 64 * MIB, 256 << 30}
    groups |= {128 * MIB * number for number in (1, 2, 3, 5, 7, 9, 16, 25, 27, 49, 81, 125, 243, 343)}
    groups |= {(size - RESERVE) * number // 4 // 4096 * 4096 for number in (1, 2, 3)}
    return tuple(sorted(each for each in spread | groups if EDGE <= each <= size - EDGE - PROBE))


def observe(device: Device, expected: int, place: Place) -> Observation:
    """One look, read only."""
    ran = place.run(["blkid", "-p", "-o", "export", device.path], place.waits.probe_s)
    if ran.code in (MISSING, TIMED_OUT):
        return Observation(device.size, expected, ran.code, error=ran.words)
    try:
        size = size_of(device.path)
        mark, dirty_at, probed = read_probes(device.path, size)
    except OSError as error:
        return Observation(device.size, expected, ran.code, error=f"{device.path}: {error.strerror}")
    return Observation(size, expected, ran.code, pairs(ran.out), _besides(ran), dirty_at, probed, mark)


def pairs(text: str) -> Mapping[str, str]:
    """blkid's export format; DEVNAME says nothing about the content."""
    found = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {key: value for key, value in found.items() if key != "DEVNAME"}


def _besides(ran: Ran) -> str:
    loose = [line for line in ran.out.splitlines() if line.strip() and "=" not in line]
    return " / ".join([*loose, *(line.strip() for line in ran.err.splitlines() if line.strip())])


def read_probes(path: str, size: int) -> tuple[Mark | None, int | None, int]:
    """The mark, the offset of the first byte found that isn't zero, and how many bytes were read."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_RANDOM)
        edge = min(EDGE, size)
        parts = [(0, edge), *((each, PROBE) for each in probe_offsets(size)), (size - edge, edge)]
        mark = read_mark(os.pread(handle, MARK_SIZE, max(0, mark_offset(size))))
        probed, dirty_at = 0, None
        for offset, length in parts:
            data = _read(handle, offset, length)
            probed += len(data)
            if dirty_at is None and data.count(0) != len(data):
                dirty_at = offset + next(place for place, byte in enumerate(data) if byte)
        return mark, dirty_at, probed
    finally:
        os.close(handle)


def _read(handle: int, offset: int, length: int) -> bytes:
    """All of it, or up to the end of the device."""
    data = b""
    while len(data) < length:
        part = os.pread(handle, length - len(data), offset + len(data))
        if not part:
            break
        data += part
    return data
