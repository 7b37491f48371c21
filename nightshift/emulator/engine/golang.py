"""Build the engine's Go programs from their pinned modules."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from nightshift.emulator.engine import overlay
from nightshift.emulator.engine.errors import ToolchainError
from nightshift.emulator.engine.modules import CLI, EXEC_SCRIPT, LANGUAGE, MODULE_FILES, Program
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
    with ticking(say, f"building {program.name} with Go", program.normal_seconds), _source(program) as source:
        _go(
            program,
            "build",
            "-trimpath",
            "-ldflags",
            program.link_flags,
            "-o",
            str(output),
            program.package,
            cwd=source,
        )


@contextmanager
def _source(program: Program) -> Generator[Path]:
    """The folder to build in: the pinned module's own, or a copy of it that uses slimmed modules."""
    replacements = program.folder / "overlay"
    if not replacements.is_dir():
        yield program.folder
        return
    with tempfile.TemporaryDirectory(prefix=f"{program.name}-") as work:
        source = Path(work)
        places = _locate(program, overlay.packages(replacements))
        copies = overlay.slim(replacements, places.__getitem__, source / "modules")
        for name in MODULE_FILES:
            shutil.copyfile(program.folder / name, source / name)
        with (source / "go.mod").open("a", encoding="utf-8") as stream:
            stream.writelines(f"\nreplace {module} => {copy}\n" for module, copy in copies.items())
        yield source


def _locate(program: Program, packages: tuple[str, ...]) -> dict[str, overlay.Located]:
    decoder, places = json.JSONDecoder(), {}
    text = _go(program, "list", "-find", "-json=ImportPath,Dir,Module", *packages).strip()
    while text:
        found, end = decoder.raw_decode(text)
        text = text[end:].lstrip()
        module = found["Module"]
        root = Path(module.get("Replace", module)["Dir"])
        places[found["ImportPath"]] = overlay.Located(module["Path"], root, Path(found["Dir"]))
    return places


def _go(program: Program, *arguments: str, cwd: Path | None = None) -> str:
    done = subprocess.run(
        ["go", *arguments],
        cwd=cwd or program.folder,
        env=_environment(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ToolchainError(
            f"Go could not build {program.name}",
            "\n       ".join(done.stderr.strip().splitlines()[-_SHOWN_LINES:])
            or f"go ended with {done.returncode}",
            "check that Go's module proxy can be reached (GOPROXY) and 5 GB of disk are free, run again; "
            "or install the official pulumi CLI and its aws plugin, and nothing is built",
        )
    return done.stdout


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Go's environment for a build that depends on the pinned modules alone."""
    return {**environment, "GOWORK": "off", "CGO_ENABLED": "0"}
