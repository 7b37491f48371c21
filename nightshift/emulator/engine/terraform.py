"""Find the Terraform AWS provider's binary on this machine."""

import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from nightshift.emulator.engine.errors import ToolchainError

VARIABLE = "NIGHTSHIFT_TERRAFORM_AWS_PROVIDER"
BRIDGED_MAJOR = 5
"""The bridge's tables (shapes, bridge_inputs.json) are provider 5's; pulumi-aws 6.83 bridges 5.100.0."""

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64", "amd64": "amd64"}
_BINARY = re.compile(r"terraform-provider-aws_v(?P<version>\d+\.\d+\.\d+)(_x\d+)?(\.exe)?")
_MIRROR = re.compile(r'filesystem_mirror\s*\{[^}]*?path\s*=\s*"(?P<path>[^"]+)"', re.DOTALL)
_CACHE = re.compile(r'^\s*plugin_cache_dir\s*=\s*"(?P<path>[^"]+)"', re.MULTILINE)
_TAIL = "*/hashicorp/aws/*/{platform}/terraform-provider-aws_v*"
_SYSTEM_ROOTS = ("/opt", "/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib", "/usr/local")


@dataclass(frozen=True)
class TerraformProvider:
    """A provider binary and its version."""

    path: Path
    version: str


def terraform_platform() -> str:
    """Terraform's name of this platform, such as `linux_amd64`."""
    machine = platform.machine().lower()
    return f"{sys.platform}_{_ARCHITECTURES.get(machine, machine)}"


def find_provider(
    environment: Mapping[str, str] = os.environ, system_roots: tuple[str, ...] = _SYSTEM_ROOTS
) -> TerraformProvider:
    """The provider named by NIGHTSHIFT_TERRAFORM_AWS_PROVIDER, else the newest 5.x of the known folders.

    Raises ToolchainError when the variable names no binary, or nothing is found.
    """
    if given := environment.get(VARIABLE):
        return _given(Path(given).expanduser())
    found = {provider for root in search_folders(environment, system_roots) for provider in _below(root)}
    fitting = [p for p in found if p.version.split(".")[0] == str(BRIDGED_MAJOR)]
    if not fitting:
        raise _missing(environment, system_roots, sorted(p.version for p in found))
    return max(fitting, key=lambda p: (_ordered(p.version), str(p.path)))


def search_folders(environment: Mapping[str, str], system_roots: tuple[str, ...]) -> tuple[Path, ...]:
    """Every folder that is looked into, in order, each once."""
    home = Path(environment.get("HOME") or "~").expanduser()
    folders = [home / ".terraform.d" / "plugins", home / ".terraform.d" / "plugin-cache"]
    folders += [Path(v).expanduser() for v in [environment.get("TF_PLUGIN_CACHE_DIR")] if v]
    folders += _configured(Path(environment.get("TF_CLI_CONFIG_FILE") or home / ".terraformrc"))
    folders.append(home / ".local/share/terraform/plugins")
    folders += [Path(root) for root in system_roots]
    return tuple(dict.fromkeys(folders))


def _configured(config: Path) -> list[Path]:
    """The mirrors and the cache that Terraform's own configuration file names."""
    try:
        text = config.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    return [
        Path(match["path"]).expanduser() for pattern in (_MIRROR, _CACHE) for match in pattern.finditer(text)
    ]


def _below(root: Path) -> Iterator[TerraformProvider]:
    """Providers of this platform in a mirror at `root` or one or two folders below it."""
    tail = _TAIL.format(platform=terraform_platform())
    for depth in ("", "*/", "*/*/"):
        for path in sorted(root.glob(depth + tail)) if root.is_dir() else ():
            match = _BINARY.fullmatch(path.name)
            if match and os.access(path, os.X_OK):
                yield TerraformProvider(path, match["version"])


def _given(path: Path) -> TerraformProvider:
    match = _BINARY.fullmatch(path.name)
    if not path.is_file() or not os.access(path, os.X_OK):
        raise ToolchainError(
            f"{VARIABLE} does not name a program: {path}",
            "there is no executable file of that name",
            f"give the path of terraform-provider-aws_v{BRIDGED_MAJOR}.x, or unset it to search for one",
        )
    if match and match["version"].split(".")[0] != str(BRIDGED_MAJOR):
        raise ToolchainError(
            f"{VARIABLE} names version {match['version']} of the provider",
            f"the emulator speaks to version {BRIDGED_MAJOR}",
            f"give terraform-provider-aws_v{BRIDGED_MAJOR}.x",
        )
    return TerraformProvider(path, match["version"] if match else "unknown")


def _missing(
    environment: Mapping[str, str], system_roots: tuple[str, ...], others: list[str]
) -> ToolchainError:
    looked = ", ".join(str(folder) for folder in search_folders(environment, system_roots))
    only = f"; found only {', '.join(others)}" if others else ""
    return ToolchainError(
        f"No Terraform AWS provider {BRIDGED_MAJOR}.x for {terraform_platform()}",
        f"looked in {looked}{only}",
        "`terraform providers mirror ~/.terraform.d/plugins` in a folder that requires "
        f"hashicorp/aws ~> {BRIDGED_MAJOR}.100, "
        f"or set {VARIABLE} to the binary, or install the official pulumi CLI and its aws plugin",
    )


def _ordered(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
