"""Writes a pack's files as they arrive, each checked against the seal that comes first."""

from __future__ import annotations

import hashlib
import os
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from bootstrap.runtime.seal import MTIME, NAME, File, Seal, SealError, read_seal

_CHUNK = 1 << 20
_SEAL_LIMIT = 64 << 20
Progress = Callable[[int], None]


class BadPack(Exception):
    """Cut short, changed or not a pack of ours; the message says where."""


class _Stream:
    """Pieces of bytes as a file that can only be read on."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._held = b""
        self._at = 0

    def read(self, count: int) -> bytes:
        """As many bytes as asked for; fewer at the end only."""
        got: list[bytes] = []
        while count > 0:
            if self._at >= len(self._held):
                self._held, self._at = next(self._pieces, b""), 0
                if not self._held:
                    break
            piece = self._held[self._at : self._at + count]
            self._at += len(piece)
            count -= len(piece)
            got.append(piece)
        return got[0] if len(got) == 1 else b"".join(got)


def unpack(
    pieces: Iterable[bytes], tree: Path, wanted: str, room: Callable[[Seal], None], progress: Progress
) -> Seal:
    """Write the pack of id `wanted` into `tree`, which is made. `room` may raise before anything is written.

    `progress` gets the bytes of each file written. Raises BadPack, OSError, and what `pieces`, `room` and
    `progress` raise; then the tree is worth nothing.
    """
    try:
        stream = _Stream(pieces)
        with tarfile.open(fileobj=stream, mode="r|", bufsize=_CHUNK) as archive:  # ty: ignore[no-matching-overload]
            members = iter(archive)
            seal, text = _seal(archive, next(members, None), wanted)
            room(seal)
            tree.mkdir(parents=True)
            _write_all(archive, members, tree, seal, progress)
    except tarfile.TarError as error:
        raise BadPack(f"not a whole pack: {error}") from None
    except (FileExistsError, NotADirectoryError) as error:
        raise BadPack(f"a file and a folder of one name: {error.filename}") from None
    (tree / NAME).write_bytes(text)
    return seal


def _seal(archive: tarfile.TarFile, first: tarfile.TarInfo | None, wanted: str) -> tuple[Seal, bytes]:
    if first is None or first.name != NAME or not first.isreg() or first.size > _SEAL_LIMIT:
        raise BadPack("it doesn't begin with a seal")
    text = b"".join(_content(archive, first))
    try:
        seal = read_seal(text.decode("utf-8", "replace"))
    except SealError as error:
        raise BadPack(str(error)) from None
    if seal.id != wanted or seal.to_json().encode() != text:
        raise BadPack(f"its seal is of {seal.id}, not of {wanted}, or was edited")
    return seal, text


def _write_all(
    archive: tarfile.TarFile, members: Iterator[tarfile.TarInfo], tree: Path, seal: Seal, progress: Progress
) -> None:
    files, links = {each.path: each for each in seal.files}, dict(seal.links)
    made: set[str] = set()
    for member in members:
        _folder(tree, member.name, made)
        if member.issym() and links.pop(member.name, None) == member.linkname:
            (tree / member.name).symlink_to(member.linkname)
            continue
        file = files.pop(member.name, None)
        if file is None or not member.isreg() or member.size != file.size:
            raise BadPack(f"{member.name[:200]!r} isn't in its seal, or twice, or of another size")
        _write(archive, member, tree / file.path, file)
        progress(file.size)
    missing = [*files, *links]
    if missing:
        raise BadPack(f"{len(missing)} of its files are missing, {missing[0]} first")


def _folder(tree: Path, name: str, made: set[str]) -> None:
    """Only for names that the seal has does anything follow; it has none that lead out."""
    folder = name.rpartition("/")[0]
    if folder not in made and ".." not in name.split("/") and not name.startswith("/"):
        (tree / folder).mkdir(parents=True, exist_ok=True)
        made.add(folder)


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path, file: File) -> None:
    digest = hashlib.sha256()
    with path.open("xb", buffering=0) as out:
        for chunk in _content(archive, member):
            digest.update(chunk)
            _all_of(out.fileno(), chunk)
        os.fchmod(out.fileno(), 0o755 if file.executable else 0o644)
    os.utime(path, (MTIME, MTIME))
    if digest.hexdigest() != file.sha256:
        raise BadPack(f"{file.path} has sha256 {digest.hexdigest()[:12]}, sealed was {file.sha256[:12]}")


def _all_of(out: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(out, view) :]


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[bytes]:
    source = archive.extractfile(member)
    if source is None:
        raise BadPack(f"{member.name!r} has no content")
    left = member.size
    while left:
        chunk = source.read(min(_CHUNK, left))
        if not chunk:
            raise BadPack(f"it ends within {member.name!r}")
        left -= len(chunk)
        yield chunk
