"""Writes the locks anew from the catalog: `python -m bootstrap.runtime.relock [--uv UV]`.

Each package with the sha256 of its files, and neither addresses nor the name of an index: a node takes them
from whatever index it is set up for, and takes no other bytes. Wheels only. Runs where the program runs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from bootstrap.runtime.presets import LOCKS, UV, UV_LOCK, arches, locks
from nightshift.catalog.runtimes import RUNTIMES

EXTRAS = ("numpy", "jupyterlab", "tensorboard", "boto3")
"""Besides torch and torchvision: what data loaders, the notebook, the trainer and copies in S3 need."""
PLATFORMS = {"x86_64": "x86_64-manylinux_2_28", "arm64": "aarch64-manylinux_2_28"}
"""glibc 2.28 or newer: Ubuntu 20.04, Amazon Linux 2023."""


def wanted(name: str) -> str:
    """What a preset asks for, one requirement a line."""
    runtime = RUNTIMES[name]
    return "\n".join((f"torch=={runtime.torch}", f"torchvision=={runtime.torchvision}", *EXTRAS)) + "\n"


def compiled(uv: str, requirements: str, python: str, *where: str) -> str:
    """The lock's text. Raises CalledProcessError; uv has said why."""
    form = ("--quiet", "--no-header", "--no-annotate", "--generate-hashes", "--only-binary", ":all:")
    call = [uv, "pip", "compile", "-", "--python-version", python, *form, *where]
    return subprocess.run(call, input=requirements, check=True, stdout=subprocess.PIPE, text=True).stdout


def files(texts: dict[str, str], name: str) -> dict[str, str]:
    """File name to text: one file where all architectures agree."""
    if len(set(texts.values())) == 1:
        return {f"{name}.txt": next(iter(texts.values()))}
    return {f"{name}-{arch}.txt": text for arch, text in texts.items()}


def relock(uv: str, folder: Path = LOCKS) -> None:
    """Write every lock. Raises CalledProcessError or OSError."""
    made: dict[str, str] = {}
    for name in locks():
        python = RUNTIMES[name].python
        where = {arch: ("--python-platform", PLATFORMS[arch]) for arch in arches(name)}
        texts = {arch: compiled(uv, wanted(name), python, *given) for arch, given in where.items()}
        made |= files(texts, name)
    made[UV_LOCK.name] = compiled(uv, f"uv=={UV}\n", "3.10", "--universal")
    for old in folder.glob("*.txt"):
        old.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0, or uv's."""
    parser = argparse.ArgumentParser(prog="relock", description="Write the runtimes' locks anew.")
    parser.add_argument("--uv", default=str(Path(sys.executable).parent / "uv"), help="the uv to use")
    try:
        relock(parser.parse_args(arguments).uv)
    except subprocess.CalledProcessError as error:
        return error.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
