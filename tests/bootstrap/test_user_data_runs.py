"""User data as bash runs it, against an AWS of a few lines: installed and started, or ABANDON and why."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bootstrap.artifact import Artifact, build
from bootstrap.start.user_data import render_user_data
from tests.bootstrap.support.samples import CONFIG

pytestmark = pytest.mark.node
KEYS = {"AccessKeyId": "AKID", "SecretAccessKey": "secret", "Token": "token"}


@dataclass
class Aws:
    """IMDS, S3, Auto Scaling and CloudWatch at one address. `broken` names what answers 500."""

    artifact: bytes
    broken: set[str] = field(default_factory=set)
    told: list[dict[str, str]] = field(default_factory=list)

    def answer(self, path: str, form: dict[str, str]) -> bytes | None:
        name = form.get("Action") or ("artifact" if path.endswith(".zip") else "imds")
        if name in self.broken:
            return None
        if form:
            self.told.append(form)
        if path.endswith("/role"):
            return json.dumps(KEYS).encode()
        texts = {"/iam/security-credentials/": b"role", "/instance-id": b"i-0abc", ".zip": self.artifact}
        return next((text for end, text in texts.items() if path.endswith(end)), b"ok")

    def named(self, action: str) -> list[dict[str, str]]:
        return [form for form in self.told if form["Action"] == action]


class Served:
    """The address of a running Aws."""

    def __init__(self, aws: Aws) -> None:
        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
                answer = aws.answer(self.path, dict(urllib.parse.parse_qsl(body)))
                self.send_response(500 if answer is None else 200)
                self.end_headers()
                self.wfile.write(answer or b"broken")

            do_GET = do_PUT = do_POST = handle_any

            def log_message(self, format: str, *args: object) -> None:
                """Silent."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    return build(cache=tmp_path_factory.mktemp("cache"))


@pytest.fixture
def aws(artifact: Artifact) -> Aws:
    return Aws(artifact.path.read_bytes())


@pytest.fixture
def url(aws: Aws) -> Iterator[str]:
    served = Served(aws)
    yield served.url
    served.server.shutdown()
    served.server.server_close()


def tool(folder: Path, name: str, rc: int = 0) -> None:
    path = folder / name
    path.write_text(f'#!/bin/bash\necho "{name} $*" >> {folder}/calls\nexit {rc}\n')
    path.chmod(0o755)


def boot(tmp_path: Path, url: str, artifact: Artifact, systemctl: int = 0) -> tuple[int, str, list[str]]:
    node = replace(
        CONFIG, artifact_key=artifact.key, artifact_sha256=artifact.sha256, endpoint=url, deadline_s=1
    )
    tools = tmp_path / "bin"
    tools.mkdir(exist_ok=True)
    tool(tools, "systemctl", systemctl)
    tool(tools, "poweroff")
    (tools / "python3").unlink(missing_ok=True)
    (tools / "python3").symlink_to(sys.executable)
    script = tmp_path / "user-data"
    script.write_text(render_user_data(node))
    environment = {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "NIGHTSHIFT_ROOT": str(tmp_path / "opt"),
        "NIGHTSHIFT_ETC": str(tmp_path / "etc"),
        "NIGHTSHIFT_UNITS": str(tmp_path / "units"),
        "AWS_EC2_METADATA_SERVICE_ENDPOINT": url,
    }
    done = subprocess.run(["bash", script], env=environment, capture_output=True, text=True, check=False)
    calls = tools / "calls"
    return done.returncode, done.stderr, calls.read_text().splitlines() if calls.exists() else []


def test_the_agent_is_installed_and_started(tmp_path: Path, aws: Aws, url: str, artifact: Artifact) -> None:
    code, said, calls = boot(tmp_path, url, artifact)
    assert code == 0, said
    unit = (tmp_path / "units" / "nightshift.service").read_text()
    assert f"WorkingDirectory={tmp_path}/opt/{artifact.sha256}\n" in unit
    assert calls == [
        "systemctl daemon-reload",
        "systemctl enable nightshift.service",
        "systemctl restart --no-block nightshift.service",
    ]
    assert aws.told == []


def test_run_again_on_the_same_machine_it_ends_the_same(
    tmp_path: Path, aws: Aws, url: str, artifact: Artifact
) -> None:
    assert boot(tmp_path, url, artifact)[0] == 0
    assert boot(tmp_path, url, artifact)[0] == 0
    assert aws.told == []


def test_an_artifact_out_of_reach_ends_the_launch(
    tmp_path: Path, aws: Aws, url: str, artifact: Artifact
) -> None:
    aws.broken = {"artifact"}
    code, said, calls = boot(tmp_path, url, artifact)
    assert code == 1
    assert "giving the launch up: Failed: fetch the agent: HTTP Error 500" in said
    (completed,) = aws.named("CompleteLifecycleAction")
    assert (completed["LifecycleActionResult"], completed["InstanceId"]) == ("ABANDON", "i-0abc")
    assert len(aws.named("PutMetricData")) == 1
    assert calls == [], "the machine stays on for the group to end it"


def test_a_tampered_artifact_ends_the_launch(tmp_path: Path, aws: Aws, url: str, artifact: Artifact) -> None:
    aws.artifact = aws.artifact[:-1] + b"x"
    code, said, calls = boot(tmp_path, url, artifact)
    assert (code, calls) == (1, [])
    assert "sha256 is " in said
    assert len(aws.named("CompleteLifecycleAction")) == 1
    assert not (tmp_path / "opt" / artifact.sha256).exists()


def test_a_unit_that_cannot_be_enabled_ends_the_launch(
    tmp_path: Path, aws: Aws, url: str, artifact: Artifact
) -> None:
    code, said, _ = boot(tmp_path, url, artifact, systemctl=1)
    assert code == 1
    assert "installing the agent failed with exit code 1" in said
    assert len(aws.named("CompleteLifecycleAction")) == 1


def test_a_launch_that_cannot_even_be_given_up_turns_the_machine_off(
    tmp_path: Path, aws: Aws, url: str, artifact: Artifact
) -> None:
    aws.broken = {"artifact", "CompleteLifecycleAction"}
    code, said, calls = boot(tmp_path, url, artifact)
    assert (code, calls) == (1, ["poweroff "])
    assert "complete the launching hook: HTTP Error 500" in said


def test_without_metadata_nothing_can_be_told_and_the_machine_turns_off(
    tmp_path: Path, aws: Aws, url: str, artifact: Artifact
) -> None:
    aws.broken = {"imds"}
    code, _, calls = boot(tmp_path, url, artifact)
    assert (code, calls) == (1, ["poweroff "])


def test_a_failure_before_the_fetcher_runs_turns_the_machine_off(
    tmp_path: Path, aws: Aws, url: str, artifact: Artifact
) -> None:
    (tmp_path / "opt").write_text("a file where the folder belongs")
    code, _, calls = boot(tmp_path, url, artifact)
    assert (code, calls) == (1, ["poweroff "])
