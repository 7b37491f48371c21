"""A few small wheels made here, one with a file named like a library, and the hashed lock of them."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

BIG = 2_000_000
"""Bytes of the largest file: long enough on its way to be cut."""


def _noise(count: int) -> bytes:
    """The same bytes each time, and no compressor's."""
    return b"".join(hashlib.sha512(str(number).encode()).digest() for number in range(-(-count // 64)))[
        :count
    ]


def contents() -> dict[str, dict[str, bytes]]:
    """Files by package."""
    return {
        "alpha": {
            "alpha/__init__.py": b"VALUE = 42\n",
            "alpha/tool.py": b"import alpha\n\n\ndef main() -> None:\n    print(alpha.VALUE)\n",
        },
        "beta": {"beta/__init__.py": b"import alpha\n", "beta/libbeta.so.1": _noise(50_000)},
        "gamma": {"gamma/__init__.py": b"", "gamma/noise.bin": _noise(BIG)},
    }


def make(folder: Path) -> dict[str, Path]:
    """The wheels, in `folder`, by package."""
    folder.mkdir(parents=True, exist_ok=True)
    return {name: _wheel(folder, name, files) for name, files in contents().items()}


def _wheel(folder: Path, name: str, files: dict[str, bytes]) -> Path:
    info = f"{name}-1.0.dist-info"
    meta = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: here\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if name == "alpha":
        meta[f"{info}/entry_points.txt"] = b"[console_scripts]\nalpha-tool = alpha.tool:main\n"
    entries = {**files, **meta}
    lines = [f"{path},sha256={_digest(data)},{len(data)}" for path, data in entries.items()]
    entries[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as wheel:
        for entry, data in entries.items():
            wheel.writestr(zipfile.ZipInfo(entry, (2020, 1, 1, 0, 0, 0)), data)
    return path


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def lock(wheels: dict[str, Path]) -> str:
    """As uv writes it: version and hash, no address."""
    hashes = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in wheels.items()}
    return "".join(f"{name}==1.0 \\\n    --hash=sha256:{digest}\n" for name, digest in hashes.items())
