"""A runtime as one plain tar: the seal first, then its files. Same content, same bytes, made while it's sent.

Not compressed: the standard library of Python 3.10 has no zstd, and gzip takes longer than the bytes it saves
take to travel within a region (docs/runtime.md).
"""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from bootstrap.runtime.seal import MTIME, NAME, File, Seal

_BLOCK = 512
_CHUNK = 4 << 20
_END = bytes(2 * _BLOCK)


class Spoiled(Exception):
    """A file isn't as sealed while it's packed; nothing of this pack may be kept."""


def pack_size(seal: Seal) -> int:
    """Bytes of the whole pack."""
    text = len(seal.to_json().encode())
    heads = sum(len(_head(each)) for each in _members(seal, text))
    bodies = sum(_padded(each.size) for each in seal.files)
    return heads + bodies + _padded(text) + len(_END)


def pack(tree: Path, seal: Seal) -> Iterator[bytes]:
    """The pack's bytes, piece by piece. Raises OSError, and Spoiled when a file isn't as sealed."""
    text = seal.to_json().encode()
    files = {each.path: each for each in seal.files}
    for member in _members(seal, len(text)):
        yield _head(member)
        if member.name == NAME:
            yield text + _padding(len(text))
        elif member.isreg():
            yield from _body(tree, files[member.name])
    yield _END


def parts(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The same bytes in parts of `size`, the last one shorter."""
    held = bytearray()
    for piece in pieces:
        held += piece
        while len(held) >= size:
            yield bytes(held[:size])
            del held[:size]
    if held:
        yield bytes(held)


def _body(tree: Path, file: File) -> Iterator[bytes]:
    digest, count = hashlib.sha256(), 0
    with (tree / file.path).open("rb", buffering=0) as source:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            count += len(chunk)
            if count > file.size:
                break
            yield chunk
    if count != file.size or digest.hexdigest() != file.sha256:
        raise Spoiled(f"{file.path} changed since it was sealed")
    yield _padding(file.size)


def _members(seal: Seal, text: int) -> Iterator[tarfile.TarInfo]:
    yield _member(NAME, text)
    for file in seal.files:
        yield _member(file.path, file.size, file.executable)
    for path, target in seal.links:
        link = _member(path, 0)
        link.type, link.linkname = tarfile.SYMTYPE, target
        yield link


def _member(name: str, size: int, executable: bool = False) -> tarfile.TarInfo:
    """Owner, time and mode are the same on every machine."""
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = size, MTIME, 0o755 if executable else 0o644
    return member


def _head(member: tarfile.TarInfo) -> bytes:
    return member.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")


def _padded(count: int) -> int:
    return -(-count // _BLOCK) * _BLOCK


def _padding(count: int) -> bytes:
    return bytes(_padded(count) - count)
