"""The three Go programs of the engine, pinned by hash in build/<program>/, and the key of their build."""

import hashlib
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

CLI_VERSION = "3.274.1"
BRIDGE_VERSION = "3.120.0"
_VERSION_VARIABLE = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version"


@dataclass(frozen=True)
class Program:
    """A Go program: its name, its package, the seconds a build takes on two cores, fetch included."""

    name: str
    package: str
    normal_seconds: int
    link_flags: str = "-s -w"

    @property
    def folder(self) -> Path:
        """Where its go.mod and go.sum stand."""
        return Path(str(files("nightshift.emulator.engine").joinpath("build", self.name)))


CLI = Program(
    "pulumi",
    "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
    240,
    f"-s -w -X {_VERSION_VARIABLE}=v{CLI_VERSION}",
)
LANGUAGE = Program(
    "pulumi-language-python",
    "github.com/pulumi/pulumi/sdk/v3/python/cmd/pulumi-language-python",
    20,
)
BRIDGE = Program(
    "pulumi-resource-terraform-provider",
    "github.com/pulumi/pulumi-terraform-bridge/v3/dynamic",
    140,
)
PROGRAMS = (CLI, BRIDGE, LANGUAGE)
EXEC_SCRIPT = "pulumi-language-python-exec"
"""Runs a Python program for the language host; stands beside it, comes with the CLI's own sdk module."""

MODULE_FILES = ("go.mod", "go.sum", "tools.go")


def cache_root(environment: Mapping[str, str] = os.environ) -> Path:
    """The product's cache folder: NIGHTSHIFT_CACHE, else `nightshift` below XDG_CACHE_HOME or ~/.cache."""
    if given := environment.get("NIGHTSHIFT_CACHE"):
        return Path(given).expanduser().absolute()
    base = environment.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "nightshift"


def build_key(programs: tuple[Program, ...] = PROGRAMS) -> str:
    """16 hex digits over the modules' files, what is built of them, and the platform."""
    digest = hashlib.sha256()
    for program in programs:
        digest.update(f"{program.name}\0{program.package}\0{program.link_flags}\0".encode())
        for path in sorted(path for path in program.folder.rglob("*") if path.is_file()):
            digest.update(f"{path.relative_to(program.folder).as_posix()}\0".encode())
            digest.update(path.read_bytes())
            digest.update(b"\0")
    digest.update(f"{platform.system()}\0{platform.machine()}".encode())
    return digest.hexdigest()[:16]
