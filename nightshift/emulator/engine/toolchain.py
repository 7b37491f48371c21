"""What a run of the engine needs: the official tools where they can be had, else built once and cached."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from nightshift.emulator.engine import cache, golang, official, terraform
from nightshift.emulator.engine.errors import ToolchainError
from nightshift.emulator.engine.modules import (
    BRIDGE,
    BRIDGE_VERSION,
    CLI,
    CLI_VERSION,
    PROGRAMS,
    Program,
    build_key,
    cache_root,
)
from nightshift.emulator.engine.progress import Say


@dataclass(frozen=True)
class Toolchain:
    """The engine's programs. `provider` is `plugin` (pulumi-aws's own) or `bridge` (to Terraform's)."""

    pulumi: Path
    pulumi_version: str
    language_folder: Path
    provider: Literal["plugin", "bridge"]
    provider_version: str
    plugin_home: Path | None = None
    bridge: Path | None = None
    terraform_provider: Path | None = None
    built: bool = False

    @property
    def provider_name(self) -> str:
        """The provider in words, for reports."""
        if self.provider == "plugin":
            return "pulumi-resource-aws"
        return f"terraform-provider-aws behind pulumi-terraform-bridge {BRIDGE_VERSION}"

    def as_json(self) -> dict[str, str | bool | None]:
        """Plain values, for --json."""
        plain = {name: str(v) if isinstance(v, Path) else v for name, v in asdict(self).items()}
        return {**plain, "provider_name": self.provider_name}


def ensure_toolchain(progress: Say, environment: Mapping[str, str] = os.environ) -> Toolchain:
    """The engine's programs, ready to run. The first time takes minutes; `progress` gets lines for people.

    Raises ToolchainError when something cannot be had: what, why, what to do.
    """
    cli = official.find_cli(environment)
    home, refusal = official.find_plugin(cli, progress, environment) if cli else (None, "")
    if cli and home:
        return Toolchain(
            cli.path,
            cli.version,
            cli.path.resolve().parent,
            "plugin",
            version("pulumi-aws"),
            plugin_home=home,
        )
    if refusal:
        progress(refusal)
    provider = terraform.find_provider(environment)
    folder = ensure_built((BRIDGE,) if cli else PROGRAMS, progress, environment)
    return Toolchain(
        cli.path if cli else folder / CLI.name,
        cli.version if cli else CLI_VERSION,
        cli.path.resolve().parent if cli else folder,
        "bridge",
        provider.version,
        bridge=folder / BRIDGE.name,
        terraform_provider=provider.path,
        built=True,
    )


def ensure_built(
    programs: tuple[Program, ...], progress: Say, environment: Mapping[str, str] = os.environ
) -> Path:
    """The cache folder with these programs, built if it is not there or damaged. Two processes build once."""
    root = cache_root(environment) / "engine"
    try:
        return _ensure_built(programs, root, progress)
    except OSError as error:
        raise ToolchainError(
            "The engine's cache can't be used",
            f"{error.filename or root}: {error.strerror or error}",
            "point NIGHTSHIFT_CACHE at a folder that can be written and has 5 GB free",
        ) from error


def _ensure_built(programs: tuple[Program, ...], root: Path, progress: Say) -> Path:
    go = golang.go_version()
    folder = root / f"{build_key(programs)}-{go}" if go else _newest(root, build_key(programs))
    problem = cache.damage(folder)
    if problem is None:
        return folder
    if go is None:
        raise _no_go(programs)
    with cache.locked(
        root / f"{folder.name}.lock", lambda: progress("another process builds the engine; waiting for it")
    ):
        if (problem := cache.damage(folder)) is None:
            return folder
        if folder.is_dir():
            progress(f"the engine in {folder} is damaged ({problem}); building it again")
        with cache.replaced(folder) as fresh:
            golang.build_all(programs, fresh, progress)
    return folder


def _newest(root: Path, key: str) -> Path:
    """Without Go its version is not known: any whole build of the same modules serves."""
    whole = [folder for folder in sorted(root.glob(f"{key}-go*")) if cache.damage(folder) is None]
    return whole[-1] if whole else root / f"{key}-none"


def _no_go(programs: tuple[Program, ...]) -> ToolchainError:
    names = ", ".join(program.name for program in programs)
    on_path = shutil.which("pulumi")
    return ToolchainError(
        "No Pulumi engine to run",
        f"{'the AWS plugin' if on_path else 'the pulumi CLI'} is not on this machine, "
        f"and without Go on PATH {names} cannot be built",
        "install Go 1.26 or newer (go.dev/dl) or the official pulumi CLI (pulumi.com/docs/install)",
    )
