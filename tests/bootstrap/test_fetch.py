"""The fetcher in user data: its signatures are AWS's, its retries end, its failures are said."""

from __future__ import annotations

import hashlib
import io
import json
import urllib.error
import zipfile
from dataclasses import asdict, replace
from datetime import UTC, datetime
from email.message import Message
from http.client import BadStatusLine, IncompleteRead
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.start import fetch
from tests.bootstrap.support.samples import CONFIG

KEYS = {"AccessKeyId": "AKIDEXAMPLE", "SecretAccessKey": "wJalrXUtnFEMI/K7MDENG", "Token": "a/token=="}
AT = datetime(2026, 12, 7, 11, 0, 5, tzinfo=UTC)


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as bundle:
        bundle.writestr("bootstrap/__init__.py", "")
    return buffer.getvalue()


DATA = zipped()
NODE = asdict(
    replace(
        CONFIG,
        artifact_key=f"bootstrap/{hashlib.sha256(DATA).hexdigest()}.zip",
        artifact_sha256=hashlib.sha256(DATA).hexdigest(),
        deadline_s=0,
    )
)


def botocore_signature(auth: type[SigV4Auth], service: str, method: str, url: str, body: bytes) -> str:
    headers = {"content-type": fetch.FORM} if method == "POST" else {}
    headers["x-amz-content-sha256"] = hashlib.sha256(body).hexdigest()
    request = AWSRequest(method=method, url=url, data=body, headers=headers)
    credentials = Credentials(KEYS["AccessKeyId"], KEYS["SecretAccessKey"], KEYS["Token"])
    with patch("botocore.auth.get_current_datetime", return_value=AT):
        auth(credentials, service, "us-east-1").add_auth(request)
    return request.headers["Authorization"]


@given(st.text(alphabet="abcXYZ019-_./", min_size=1, max_size=40).filter(lambda key: "//" not in f"/{key}"))
def test_a_fetch_is_signed_as_botocore_signs_it(key: str) -> None:
    url = f"https://bucket.s3.us-east-1.amazonaws.com/{key}"
    headers = fetch.signed(KEYS, "us-east-1", "s3", "GET", url, b"", AT)
    assert headers["authorization"] == botocore_signature(S3SigV4Auth, "s3", "GET", url, b"")


@given(st.binary(max_size=200))
def test_a_call_is_signed_as_botocore_signs_it(body: bytes) -> None:
    url = "https://autoscaling.us-east-1.amazonaws.com/"
    headers = fetch.signed(KEYS, "us-east-1", "autoscaling", "POST", url, body, AT)
    assert headers["authorization"] == botocore_signature(SigV4Auth, "autoscaling", "POST", url, body)


class Aws:
    """Answers every request of the fetcher; `fail` maps a part of a URL or body to (status, text)."""

    def __init__(self, **fail: tuple[int, str]) -> None:
        self.fail = fail
        self.calls: list[str] = []

    def send(
        self,
        url: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        method: str | None = None,
        timeout_s: int = 10,
    ) -> bytes:
        asked = f"{url} {(body or b'').decode()}"
        self.calls.append(asked)
        for part, (status, text) in self.fail.items():
            if part in asked:
                raise urllib.error.HTTPError(url, status, "no", Message(), io.BytesIO(text.encode()))
        return self._answer(url)

    @staticmethod
    def _answer(url: str) -> bytes:
        if url.endswith("/iam/security-credentials/"):
            return b"role\n"
        if "/iam/security-credentials/" in url:
            return json.dumps(KEYS).encode()
        if url.endswith("/instance-id"):
            return b"i-0abc"
        return DATA if url.endswith(".zip") else b"token"

    def asked(self, part: str) -> list[str]:
        return [call for call in self.calls if part in call]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(fetch, "ROOT", tmp_path / "opt")
    monkeypatch.setattr(fetch, "ETC", tmp_path / "etc")
    (tmp_path / "opt").mkdir()
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, aws: Aws, returncode: int = 0) -> tuple[int, list[list[str]]]:
    commands: list[list[str]] = []

    def started(command: list[str], **_: Any) -> Any:
        commands.append(command)
        code = 0 if command[1] == "-c" else returncode
        return type("Done", (), {"returncode": code})

    monkeypatch.setattr(fetch, "send", aws.send)
    monkeypatch.setattr(fetch.subprocess, "run", started)
    return fetch.main(["install", json.dumps(NODE)]), commands


def test_the_agent_is_fetched_checked_unpacked_and_installed(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws = Aws()
    code, commands = run(monkeypatch, aws)
    folder = here / "opt" / NODE["artifact_sha256"]
    assert code == 0
    assert (folder / "bootstrap" / "__init__.py").is_file()
    assert json.loads((here / "etc" / "node.json").read_text()) == NODE
    assert commands[-1][1:] == ["-m", "bootstrap", "install", "--node", str(here / "etc" / "node.json")]
    assert aws.asked("CompleteLifecycleAction") == []


def test_a_second_run_takes_what_is_unpacked_already(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, Aws())[0] == 0
    assert run(monkeypatch, Aws())[0] == 0
    assert [path.name for path in (here / "opt").iterdir()] == [NODE["artifact_sha256"]]


def abandoned(aws: Aws) -> bool:
    (call,) = aws.asked("CompleteLifecycleAction")
    wanted = ("LifecycleActionResult=ABANDON", "InstanceId=i-0abc", "LifecycleHookName=ready")
    return all(part in call for part in (*wanted, "AutoScalingGroupName=nightshift-lab.vit"))


@pytest.mark.parametrize(
    ("fail", "reason"),
    [
        ({".zip": (403, "AccessDenied")}, "fetch the agent: HTTP Error 403: no AccessDenied"),
        ({".zip": (500, "")}, "fetch the agent: HTTP Error 500: no"),
    ],
)
def test_an_agent_that_cannot_be_fetched_ends_the_launch_with_the_reason(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fail: dict[str, tuple[int, str]],
    reason: str,
) -> None:
    aws = Aws(**fail)
    assert run(monkeypatch, aws)[0] == fetch.GIVEN_UP
    assert abandoned(aws)
    (metric,) = aws.asked("PutMetricData")
    assert "Dimensions.member.1.Name=Site&MetricData.member.1.Dimensions.member.1.Value=lab" in metric
    assert f"giving the launch up: Failed: {reason}" in capsys.readouterr().err


def test_a_tampered_agent_is_never_unpacked(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    aws = Aws()
    monkeypatch.setitem(NODE, "artifact_sha256", "0" * 64)
    assert run(monkeypatch, aws)[0] == fetch.GIVEN_UP
    assert abandoned(aws)
    assert list((here / "opt").iterdir()) == []
    assert f"expected {'0' * 64}" in capsys.readouterr().err


def test_an_agent_that_cannot_be_installed_ends_the_launch(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    aws = Aws()
    assert run(monkeypatch, aws, returncode=1)[0] == fetch.GIVEN_UP
    assert abandoned(aws)
    assert "installing the agent failed with exit code 1" in capsys.readouterr().err


def test_an_image_whose_python_is_too_old_ends_the_launch(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    aws = Aws()
    monkeypatch.setattr(fetch, "PYTHONS", ())
    assert run(monkeypatch, aws)[0] == fetch.GIVEN_UP
    assert abandoned(aws)
    assert "no Python of 3.10 or newer" in capsys.readouterr().err


def test_the_launch_ends_even_if_the_failure_cannot_be_counted(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws = Aws(PutMetricData=(403, "denied"))
    monkeypatch.setattr(fetch, "send", aws.send)
    fetch.main(["abandon", json.dumps(NODE), "why"])
    assert abandoned(aws)


def test_a_launch_that_nobody_waits_for_has_ended_already(monkeypatch: pytest.MonkeyPatch) -> None:
    aws = Aws(CompleteLifecycleAction=(400, "<Message>No active Lifecycle Action found with ...</Message>"))
    monkeypatch.setattr(fetch, "send", aws.send)
    assert fetch.main(["abandon", json.dumps(NODE), "why"]) == 0


def test_a_launch_that_cannot_be_ended_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    aws = Aws(CompleteLifecycleAction=(403, "AccessDenied"))
    monkeypatch.setattr(fetch, "send", aws.send)
    with pytest.raises(fetch.Failed, match="complete the launching hook: HTTP Error 403: no AccessDenied"):
        fetch.main(["abandon", json.dumps(NODE), "why"])


def test_retries_wait_longer_each_time_and_end_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    now, pauses = [0.0], []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        now[0] += seconds

    def refuse() -> None:
        raise OSError("refused")

    monkeypatch.setattr(fetch.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(fetch.time, "sleep", sleep)
    with pytest.raises(fetch.Failed, match="ask: refused"):
        fetch.retry("ask", refuse, 60)
    assert pauses == [1, 2, 4, 8, 15, 15, 15]
    assert now[0] == 60


@pytest.mark.parametrize("error", [IncompleteRead(b"half", 4), BadStatusLine("")], ids=repr)
def test_an_answer_that_breaks_off_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    answers: list[object] = [error, b"whole"]

    def ask() -> object:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(fetch.time, "sleep", lambda _: None)
    assert fetch.retry("ask", ask, 60) == b"whole"


def test_the_emulated_aws_is_asked_where_the_configuration_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    aws = Aws()
    monkeypatch.setattr(fetch, "send", aws.send)
    node = {**NODE, "endpoint": "http://127.0.0.1:5000"}
    fetch.artifact(node)
    fetch.complete(node)
    assert aws.asked(".zip") == [f"http://127.0.0.1:5000/artifacts/{NODE['artifact_key']} "]
    assert aws.asked("CompleteLifecycleAction")[0].startswith("http://127.0.0.1:5000/ ")
