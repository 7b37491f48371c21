"""One deployed stack as a test holds it: its file to edit, its engine to run, its cloud to look at."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import boto3
import yaml
from botocore.config import Config

from nightshift.emulator.cloud.process import Cloud
from nightshift.emulator.engine.environment import aws_environment
from nightshift.emulator.engine.results import Result, Step
from nightshift.emulator.engine.toolchain import Toolchain
from nightshift.emulator.engine.workspace import Workspace

ROOT = Path(__file__).parents[3]
Document = dict[str, Any]
_CIPHERTEXT = re.compile(r'"ciphertext": "[^"]*"')


class _Quoting(yaml.SafeDumper):
    """Every text in quotes, so that no reader takes a clock time for a number."""


_Quoting.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, "'")
)


@dataclass(frozen=True)
class Project:
    """A folder with the project file and one stack file, for the command line to run in."""

    folder: Path
    stack: str

    @classmethod
    def copy_of(cls, folder: Path, shipped: str, stack: str) -> Self:
        """A shipped stack file word for word, under `stack`'s name."""
        (folder / "stacks").mkdir()
        shutil.copyfile(ROOT / "Pulumi.yaml", folder / "Pulumi.yaml")
        project = cls(folder, stack)
        shutil.copyfile(ROOT / "stacks" / f"Pulumi.{shipped}.yaml", project.file)
        return project

    @property
    def file(self) -> Path:
        """The stack file."""
        return self.folder / "stacks" / f"Pulumi.{self.stack}.yaml"

    def config(self) -> Document:
        """What stands under `config:`, topics without their namespace."""
        whole = yaml.safe_load(self.file.read_text(encoding="utf-8"))["config"]
        return {key.removeprefix("nightshift:"): value for key, value in whole.items()}

    def write(self, config: Document) -> None:
        """The file anew from `config`'s topics."""
        whole = {key if ":" in key else f"nightshift:{key}": value for key, value in config.items()}
        self.file.write_text(yaml.dump({"config": whole}, Dumper=_Quoting), encoding="utf-8")


class Deployed:
    """A context manager; leaving it ends the engine. `base` is the stack file's config as shipped."""

    def __init__(self, toolchain: Toolchain, cloud: Cloud, project: Project) -> None:
        self.cloud, self.project, self.toolchain = cloud, project, toolchain
        self.base = project.config()
        self.name, self.region = project.stack, str(self.base["aws:region"])
        self.workspace = Workspace(toolchain, project.file, ROOT, cloud.endpoint, project.folder / "engine")
        self._session: Any = boto3.Session("test", "test", region_name=self.region)
        self._clients: dict[tuple[str, str], Any] = {}

    def __enter__(self) -> Self:
        self.workspace.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the engine."""
        self.workspace.close()

    def reopened(self) -> Deployed:
        """The same stack and cloud with an engine that remembers nothing."""
        return Deployed(self.toolchain, self.cloud, self.project).__enter__()

    def client(self, service: str, credentials: Mapping[str, str] | None = None) -> Any:
        """A client of the operator's, or of a node's when its credentials are given."""
        key = (service, credentials["AccessKeyId"] if credentials else "")
        if key not in self._clients:
            self._clients[key] = self._session.client(
                service,
                endpoint_url=self.cloud.endpoint,
                config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}),
                **_as_node(credentials),
            )
        return self._clients[key]

    def edit(self, change: Callable[[Document], object], *, afresh: bool = True) -> None:
        """Change the shipped config (or with afresh=False the file as it is) and give it to the engine."""
        config = json.loads(json.dumps(self.base)) if afresh else self.project.config()
        change(config)
        self.project.write(config)
        self.workspace.write_config()

    def up(self, *arguments: str) -> Result:
        """An up that must succeed."""
        return succeeded(self.workspace.up(*arguments))

    def destroy(self) -> Result:
        """A destroy that must succeed."""
        return succeeded(self.workspace.destroy())

    def stays_as_it_is(self, when: str) -> None:
        """An up changes nothing, nor does a refresh, nor an up after it."""
        assert changes(self.up()) == [], f"up {when}"
        assert changes(succeeded(self.workspace.refresh())) == [], f"refresh {when}"
        assert changes(self.up()) == [], f"up after a refresh {when}"

    def says(self, now: str, *words: str) -> str:
        """The command line's answer to `nightshift WORDS`, at a fixed time; it must succeed."""
        done = subprocess.run(
            [str(Path(sys.executable).with_name("nightshift")), *words, "--stack", self.name],
            cwd=self.project.folder,
            env={**os.environ, **aws_environment(self.cloud.endpoint), "NIGHTSHIFT_NOW": now},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"nightshift {' '.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout

    def resources(self) -> dict[str, str]:
        """The engine's state, URN to the rest as JSON.

        What it encrypts anew at each writing is left out, and when it last looked at each resource.
        """
        found = self.workspace.export()["deployment"].get("resources") or []
        return {
            one["urn"]: _CIPHERTEXT.sub("", json.dumps({**one, "modified": ""}, sort_keys=True))
            for one in found
        }


def _as_node(credentials: Mapping[str, str] | None) -> dict[str, str]:
    if credentials is None:
        return {}
    return {
        "aws_access_key_id": credentials["AccessKeyId"],
        "aws_secret_access_key": credentials["SecretAccessKey"],
        "aws_session_token": credentials["Token"],
    }


def succeeded(result: Result) -> Result:
    """The result, which must be good."""
    assert result.ok, f"{result.operation} failed:\n{result.diagnostics}"
    assert "Traceback" not in result.output
    return result


def changes(result: Result) -> list[str]:
    """What was other than unchanged, readable: operation, type's last word, name, properties."""
    return sorted(_text(step) for step in result.changed_steps())


def _text(step: Step) -> str:
    return f"{step.op} {step.type.rsplit(':', 1)[1]} {step.name} {','.join(step.differing)}".rstrip()
