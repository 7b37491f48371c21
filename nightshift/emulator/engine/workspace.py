"""A stack's own engine on the emulated AWS: state, home and credentials apart from the user's."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from nightshift.emulator.engine import lifeline
from nightshift.emulator.engine.environment import emulated, engine_environment, python_shim
from nightshift.emulator.engine.errors import WorkspaceError
from nightshift.emulator.engine.folders import OwnFolder
from nightshift.emulator.engine.progress import Say
from nightshift.emulator.engine.provider import Provider, ProviderPids
from nightshift.emulator.engine.results import Result, read_result
from nightshift.emulator.engine.stackfile import harmless, refuse_leading_out, stack_name
from nightshift.emulator.engine.toolchain import Toolchain
from nightshift.emulator.engine.trees import end_tree
from nightshift.settings.yamltext import YamlError, load

LANGUAGE_HOST = "pulumi-language-python"
"""The engine starts it anew for each operation, and a killed engine leaves it behind."""
PARALLEL = 32
"""Resource operations at once: they wait for the cloud more than they compute."""


@dataclass(frozen=True)
class Running:
    """A started operation: the engine's process, its event log, its output so far."""

    operation: str
    process: subprocess.Popen[str]
    log: Path
    began: float

    def finish(self, say: Say | None = None) -> Result:
        """Wait for the end, handing each line to `say` as it comes. Interrupted, it ends the operation."""
        try:
            lines = self._lines(say)
            code = self.process.wait()
        except BaseException:
            end_tree(self.process)
            raise
        return read_result(self.operation, code, time.monotonic() - self.began, self.log, "".join(lines))

    def _lines(self, say: Say | None) -> list[str]:
        assert self.process.stdout is not None
        lines = []
        with self.process.stdout as stream:
            for line in stream:
                lines.append(line)
                if say is not None:
                    say(line.rstrip("\n"))
        return lines


class Workspace:
    """Runs the engine for one stack file of one project. A context manager; leaving it ends every process.

    `folder` keeps state between workspaces; without it a temporary one is used and removed. `pids` are the
    provider's processes while it runs. Neither the project nor the stack file is ever written to.
    """

    def __init__(
        self,
        toolchain: Toolchain,
        stack_file: Path,
        project: Path,
        endpoint: str,
        folder: Path | None = None,
        say: Say | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.toolchain, self.stack_file, self.project = toolchain, stack_file, project.absolute()
        self.stack, self.endpoint, self._say = stack_name(stack_file), emulated(endpoint), say
        self._own = OwnFolder() if folder is None else None
        self.folder = self._own.path if self._own else Path(folder or "").absolute()
        self.config_file = self.folder / "config" / f"Pulumi.{self.stack}.yaml"
        self.environment = {
            **engine_environment(os.environ, toolchain, self.folder, Path(sys.executable), endpoint),
            **(variables or {}),
        }
        self._provider = Provider(toolchain, self.folder, self.environment)
        self._runs = 0

    def __enter__(self) -> Self:
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise
        return self

    def _prepare(self) -> None:
        for name in ("home", "state", "bin", "config"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self._place_python()
        self._place_plugins()
        self.write_config()
        if not any((self.folder / "state").rglob(f"{self.stack}.json*")):
            self._run_checked("stack", "init", self.stack, cwd=self.config_file.parent)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the provider and remove a temporary folder."""
        self._provider.stop()
        if self._own:
            self._own.close()

    @property
    def pids(self) -> ProviderPids | None:
        """The provider's processes, once it has been started."""
        return self._provider.pids

    def write_config(self) -> None:
        """Copy the stack file anew, for a user's edit between two operations. The copy's own salt is kept.

        Raises WorkspaceError for a file that can't be read; the former copy stays.
        """
        own = self.config_file.read_text(encoding="utf-8") if self.config_file.is_file() else ""
        salt = [line for line in own.splitlines() if line.startswith("encryptionsalt:")]
        try:
            text = harmless(self.stack_file.read_bytes()).rstrip("\n")
        except WorkspaceError as error:
            raise WorkspaceError(f"{self.stack_file.name}: {error}") from None
        self.config_file.write_text("\n".join([text, *salt, ""]), encoding="utf-8")
        project = {"name": self._project_name(), "runtime": "python"}
        (self.config_file.parent / "Pulumi.yaml").write_text(yaml.safe_dump(project), encoding="utf-8")

    def up(self, *arguments: str) -> Result:
        """Bring the cloud to what the program says, without a preview first."""
        return self._finish(self.start("up", "--yes", "--skip-preview", *arguments))

    def preview(self, *arguments: str) -> Result:
        """What an `up` would do."""
        return self._finish(self.start("preview", *arguments))

    def refresh(self, *arguments: str) -> Result:
        """Bring the state to what the cloud says."""
        return self._finish(self.start("refresh", "--yes", "--skip-preview", *arguments))

    def destroy(self, *arguments: str) -> Result:
        """Delete everything in the state that is not kept."""
        return self._finish(self.start("destroy", "--yes", "--skip-preview", *arguments))

    def recover(self) -> tuple[str, ...]:
        """After a killed engine: take away its lock, then what it noted as half done and never finished.

        The same as `pulumi cancel` and `pulumi refresh --clear-pending-creates`. Half-made things are dropped
        from the state; the program finds them in the cloud again. Returns the locks, for people. Raises
        WorkspaceError when the refresh fails.
        """
        locks = tuple(str(path) for path in (self.folder / "state" / ".pulumi" / "locks").rglob("*.json"))
        self.cancel()
        result = self.refresh("--clear-pending-creates")
        if not result.ok:
            raise WorkspaceError(f"pulumi refresh --clear-pending-creates: {result.diagnostics}")
        return locks

    def cancel(self) -> None:
        """`pulumi cancel`: take the stack's lock away, whoever holds it."""
        self._run_checked("cancel", "--yes", "--stack", self.stack)

    def export(self) -> dict[str, Any]:
        """The deployment as the engine keeps it."""
        return yaml.safe_load(self._run_checked("stack", "export", "--stack", self.stack))

    def outputs(self) -> dict[str, Any]:
        """The stack's exports."""
        return yaml.safe_load(self._run_checked("stack", "output", "--json", "--stack", self.stack))

    def start(self, operation: str, *arguments: str) -> Running:
        """Start an operation and return at once; `Running.process.pid` is the engine's own process."""
        self._runs += 1
        log = self.folder / f"events-{self._runs:03}-{operation}.jsonl"
        log.unlink(missing_ok=True)
        command = [operation, *arguments, "--stack", self.stack, "--config-file", str(self.config_file)]
        command += ["--event-log", str(log), "--parallel", str(PARALLEL), "--suppress-progress"]
        environment = self._attached()
        began = time.monotonic()
        return Running(operation, self._popen(command, self.project, environment), log, began)

    def _finish(self, running: Running) -> Result:
        return running.finish(self._say)

    def _attached(self) -> dict[str, str]:
        """The environment of an operation; only the bridge is attached to, and only on the emulated AWS."""
        if self.toolchain.provider == "plugin":
            return self.environment
        return {**self.environment, "PULUMI_DEBUG_PROVIDERS": f"aws:{self._provider.ensure()}"}

    def _popen(self, arguments: list[str], cwd: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
        command = [str(self.toolchain.pulumi), *arguments, "--non-interactive", "--color", "never"]
        return subprocess.Popen(
            lifeline.bound(command),
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _run_checked(self, *arguments: str, cwd: Path | None = None) -> str:
        with self._popen(list(arguments), cwd or self.project, self.environment) as process:
            try:
                output, _ = process.communicate()
            except BaseException:
                end_tree(process)
                raise
        if process.returncode:
            raise WorkspaceError(f"pulumi {' '.join(arguments)}: {output.strip()}")
        return output

    def _project_name(self) -> str:
        path = self.project / "Pulumi.yaml"
        try:
            project = load(path.read_bytes())
        except (OSError, YamlError) as error:
            raise WorkspaceError(f"{path}: not a Pulumi project file ({error})") from error
        if not isinstance(project, dict) or "name" not in project:
            raise WorkspaceError(f"{path}: not a Pulumi project file with a name")
        refuse_leading_out(project.get("config"), path)
        return str(project["name"])

    def _place_python(self) -> None:
        if self.toolchain.provider == "bridge":
            shim = self.folder / "bin" / "python3"
            shim.write_text(python_shim(Path(sys.executable)), encoding="utf-8")
            shim.chmod(0o755)
            host = self.folder / "bin" / LANGUAGE_HOST
            host.write_text(lifeline.wrapper_script(self.toolchain.language_folder / LANGUAGE_HOST), "utf-8")
            host.chmod(0o755)

    def _place_plugins(self) -> None:
        link = self.folder / "home" / "plugins"
        if self.toolchain.plugin_home and not link.is_symlink():
            link.symlink_to(self.toolchain.plugin_home / "plugins")
