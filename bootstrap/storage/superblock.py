"""The size of an ext4 or xfs filesystem, from the first bytes of its device."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass

from bootstrap.storage.examine import MIB, RESERVE

HEAD = 4096
SLACK = 64 * MIB
"""EBS grows by GiB; less than this is rounding to groups, not growth."""
_EXT4_64BIT = 0x80


@dataclass(frozen=True)
class Span:
    """A filesystem's size: `blocks` of `block` bytes."""

    block: int
    blocks: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.block * self.blocks


def span(head: bytes, filesystem: str) -> Span | None:
    """What the filesystem spans, None when this isn't one.

    ext4: docs.kernel.org, ext4 disk layout, super block (at 1024, little endian). xfs: XFS Algorithms and
    Data Structures, superblocks (at 0, big endian).
    """
    if filesystem == "xfs":
        return Span(*struct.unpack_from(">IQ", head, 4)) if head[:4] == b"XFSB" and len(head) >= 16 else None
    if len(head) < 2048 or head[1024 + 56 : 1024 + 58] != b"\x53\xef":
        return None
    low, shift = struct.unpack_from("<I", head, 1028)[0], struct.unpack_from("<I", head, 1048)[0]
    wide = struct.unpack_from("<I", head, 1024 + 0x60)[0] & _EXT4_64BIT
    high = struct.unpack_from("<I", head, 1024 + 0x150)[0] if wide else 0
    return Span(1024 << min(shift, 6), (high << 32) + low)


def read_span(path: str, filesystem: str) -> Span | None:
    """The same, from a device. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return span(os.pread(handle, HEAD, 0), filesystem)
    finally:
        os.close(handle)


def growth(now: Span | None, device: int) -> Span | None:
    """What to grow to on a device of so many bytes, None when the filesystem fills it already."""
    if now is None or now.size + SLACK > device - RESERVE:
        return None
    return Span(now.block, (device - RESERVE) // now.block)
