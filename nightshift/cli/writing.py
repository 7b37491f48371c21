"""Files that a long run writes at its end: their place is tried before, and they come whole or not at all."""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path

from nightshift.cli.errors import UsageError


def place(option: str, path: Path) -> Path:
    """Where a file will go, tried without touching it. Raises UsageError."""
    try:
        _try(option, path)
    except OSError as error:
        raise UsageError(f"{option}: {path}: {error.strerror}; name a place that can be written") from error
    return path


def _try(option: str, path: Path) -> None:
    folder = path.resolve().parent
    if path.is_dir():
        raise UsageError(f"{option}: {path} is a folder: name a file in it")
    if not folder.is_dir():
        raise UsageError(f"{option}: {folder} isn't a folder that is there: make it, or name another place")
    if path.exists() and not os.access(path, os.W_OK):
        raise UsageError(f"{option}: {path} can't be written: name another place")
    if _replaceable(path):
        with tempfile.TemporaryFile(dir=folder):
            pass


def _replaceable(path: Path) -> bool:
    """A device or a pipe is written to, never replaced."""
    return path.is_file() or not path.exists()


def write(path: Path, text: str) -> None:
    """The whole text, or the file as it was before. Raises OSError."""
    path = path.resolve()
    if not _replaceable(path):
        path.write_text(text, encoding="utf-8")
        return
    draft = path.with_name(f".nightshift-{secrets.token_hex(8)}")
    try:
        with draft.open("x", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        if path.exists():
            draft.chmod(path.stat().st_mode & 0o777)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
