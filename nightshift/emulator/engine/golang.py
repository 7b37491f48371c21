"""Build the engine's Go programs from their pinned modules."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from nightshift.emulator.engine.errors import ToolchainError
from nightshift.emulator.engine.modules import CLI, EXEC_SCRIPT, LANGUAGE, Program
from nightshift.emulator.engine.progress import Say, ticking

_SDK = "github.com/pulumi/pulumi/sdk/v3"
_SHOWN_LINES = 6


def go_version() -> str | None:
    """The version of Go on PATH, such as `go1.26.8`, or None when there is none."""
    if shutil.which("go") is None:
        return None
    done = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def build_all(programs: tuple[Program, ...], target: Path, say: Say) -> None:
    """Build every program into `target`, side by side: the fetch of one runs while another compiles.

    Raises ToolchainError naming the program, with Go's own last words.
    """
    with ThreadPoolExecutor(len(programs)) as pool:
        for running in [pool.submit(_build, program, target, say) for program in programs]:
            running.result()
    if LANGUAGE in programs:
        script = Path(_go(CLI, "list", "-m", "-f", "{{.Dir}}", _SDK).strip()) / "python" / "cmd" / EXEC_SCRIPT
        shutil.copyfile(script, target / EXEC_SCRIPT)
        (target / EXEC_SCRIPT).chmod(0o755)


def _build(program: Program, target: Path, say: Say) -> None:
    output = target / program.name
    with ticking(say, f"building {program.name} with Go", program.normal_seconds):
        _go(program, "build", "-trimpath", "-ldflags", program.link_flags, "-o", str(output), program.package)


def _go(program: Program, *arguments: str) -> str:
    done = subprocess.run(
        ["go", *arguments],
        cwd=program.folder,
        env=_environment(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ToolchainError(
            f"Go could not build {program.name}",
            "\n       ".join(done.stderr.strip().splitlines()[-_SHOWN_LINES:]) or f"go ended with {done.returncode}",
            "check that Go's module proxy can be reached (GOPROXY) and the disk has 3 GB free, then run it again; "
            "or install the official pulumi CLI and its aws plugin, and nothing is built",
        )
    return done.stdout


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Go's environment for a build that depends on the pinned modules alone."""
    return {**environment, "GOWORK": "off", "CGO_ENABLED": "0"}
