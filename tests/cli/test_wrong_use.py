"""Whatever a user gets wrong ends with a sentence and status 1 or 2, never with a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import botocore.client
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError

from nightshift.cli.main import VERBS, main

NEEDS = {
    "connect": ["vit"],
    "logs": ["vit"],
    "hold": ["vit", "--until", "mon 09:00"],
    "wake": ["vit", "--for", "3h"],
    "sleep": ["vit"],
    "resume": ["vit"],
    "retire": ["runs"],
    "restore": ["runs"],
    "rehearse": ["--only", "deploy"],
}
ONLINE = [verb for verb in VERBS if verb not in {"check", "shifts", "forecast", "rehearse"}]
FILES = {
    "empty": b"",
    "a list": b"- 1\n",
    "no yaml": b"config: [unclosed\n",
    "tabs": b"config:\n\taws:region: x\n",
    "no utf-8": b"config: \xff\xfe\n",
    "a zero byte": b"config: \x00\n",
    "another type": b"config:\n  aws:region: us-east-1\n  nightshift:site: 5\n  nightshift:groups: []\n",
    "unknown keys": b"config:\n  aws:region: us-east-1\n  nightshift:sites: {}\n",
    "deep": b"config: " + b"[" * 3_000 + b"]" * 3_000,
    "an alias bomb": b"a: &a [x]\nb: &b [*a,*a]\nconfig: *b\n",
    "duplicate keys": b"config:\n  aws:region: a\n  aws:region: b\n",
}


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nightshift.cli.log_reading.FIRST_WAIT_S", 0.0)


def _say(project: Any, *words: str) -> int:
    try:
        return project.say(*words)
    except SystemExit as ended:
        return int(ended.code or 0)


@pytest.mark.parametrize("content", FILES.values(), ids=FILES.keys())
@pytest.mark.parametrize("verb", VERBS)
def test_a_broken_stack_file_is_told_by_every_verb(
    project: Any, capsys: pytest.CaptureFixture[str], verb: str, content: bytes
) -> None:
    project.file.write_bytes(content)
    assert _say(project, verb, *NEEDS.get(verb, [])) == 1
    told = capsys.readouterr()
    assert "Traceback" not in told.err + told.out
    assert told.err or verb == "check"


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("words", [["--nope"], ["--stack"], ["--stack", "nope"], ["--stack", "../lab"]])
def test_wrong_words_end_with_2(
    project: Any, capsys: pytest.CaptureFixture[str], verb: str, words: list[str]
) -> None:
    assert _say(project, verb, *NEEDS.get(verb, []), *words) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["hold"],
        ["hold", "vit"],
        ["hold", "vit", "--until", "yesterday"],
        ["hold", "vit", "--until", "2020-01-01"],
        ["hold", "nope", "--until", "mon 09:00"],
        ["wake", "vit"],
        ["wake", "vit", "desk", "--for", "3h"],
        ["wake", "vit", "--for", "3h", "--until", "18:00"],
        ["wake", "vit", "--for", "never"],
        ["wake", "vit", "--for", "0h"],
        ["wake", "vit", "--for", ""],
        ["wake", "vit", "--until", ""],
        ["sleep"],
        ["sleep", "vitt"],
        ["resume"],
        ["resume", "vit", "--until", "18:00"],
        ["connect"],
        ["connect", "vitt"],
        ["connect", "vit", "desk"],
        ["connect", "vit", "--notebook", "--ssh-config"],
        ["connect", "vit", "--port", "x"],
        ["connect", "vit", "--as", ""],
        ["logs"],
        ["logs", "vit", "--since", ""],
        ["logs", "vit", "--lines", "many"],
        ["logs", "vit", "--until", "tomorrow"],
        ["restore"],
        ["restore", "runs", "--snapshot", "snap"],
        ["restore", "runs", "--index", "x"],
        ["shifts", "--weeks", "0"],
        ["shifts", "--weeks", "x"],
        ["shifts", "--until", "1999-01-01"],
        ["shifts", "--weeks", "2", "--until", "2026-12-24"],
        ["forecast", "--month", "december"],
        ["forecast", "--month", "2026-13"],
        ["pin", "--kind", "windows"],
        ["rehearse", "--only", "week"],
        ["rehearse", "--weeks", "0"],
        ["rehearse", "--faults", "spit@tue"],
        ["rehearse", "--only", "control", "--stay"],
        ["check", "surplus"],
        ["nope"],
        [],
    ],
    ids=" ".join,
)
def test_wrong_use_ends_with_2_and_says_why(
    project: Any, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert _say(project, *words) == 2
    told = capsys.readouterr()
    assert told.err
    assert "Traceback" not in told.err


@pytest.mark.parametrize("verb", VERBS)
def test_outside_a_project_every_verb_says_where_to_go(
    project: Any, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    (project.root / "Pulumi.yaml").unlink()
    assert _say(project, verb, *NEEDS.get(verb, [])) == 2
    assert "no Pulumi.yaml" in capsys.readouterr().err


_FAILURES = [
    NoCredentialsError(),
    EndpointConnectionError(endpoint_url="https://sts.us-east-1.amazonaws.com"),
    ClientError({"Error": {"Code": "Throttling", "Message": "Rate exceeded"}}, "GetCallerIdentity"),
    ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "DescribeVolumes"),
    ClientError({"Error": {"Code": "ExpiredToken", "Message": "old"}}, "GetCallerIdentity"),
]


@pytest.mark.parametrize("failure", _FAILURES, ids=lambda one: type(one).__name__ + str(one)[:30])
@pytest.mark.parametrize("verb", ONLINE)
def test_without_aws_every_verb_says_why(
    project: Any,
    aws: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verb: str,
    failure: Exception,
) -> None:
    def fail(*_: Any) -> Any:
        raise failure

    monkeypatch.setattr(botocore.client.BaseClient, "_make_api_call", fail)
    assert _say(project, verb, *NEEDS.get(verb, []), "--json") == 1
    told = capsys.readouterr()
    data = json.loads(told.out)
    assert "error" in data or data["counts"]["fail"]
    assert "Traceback" not in told.err


def test_a_wrong_clock_variable_is_named(project: Any, capsys: pytest.CaptureFixture[str]) -> None:
    project.env["NIGHTSHIFT_NOW"] = "noon"
    assert project.say("shifts", "--offline") == 2
    assert "NIGHTSHIFT_NOW" in capsys.readouterr().err


def test_an_error_is_json_too_where_json_was_asked_for(
    project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert project.say("hold", "nope", "--until", "mon 09:00", "--json") == 2
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "usage"


@pytest.mark.parametrize(
    "words",
    [["hold"], ["hold", "vit", "--bogus"], ["foo"], [], ["check", "surplus"], ["pin", "--kind", "windows"]],
    ids=" ".join,
)
def test_wrong_words_are_json_too(project: Any, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert project.say(*words, "--json") == 2
    told = capsys.readouterr()
    assert json.loads(told.out)["error"]["kind"] == "usage"
    assert not told.err


def test_an_option_is_no_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--stack", "lab"]) == 2
    assert "which verb? It stands before --stack" in capsys.readouterr().err


@pytest.mark.parametrize("verb", VERBS)
def test_no_line_of_a_verbs_help_is_wider_than_the_page(
    project: Any, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    assert _say(project, verb, "--help") == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_help_lists_every_verb_within_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    told = capsys.readouterr().out
    assert all(f"  {verb} " in told for verb in VERBS)
    assert max(map(len, told.splitlines())) <= 80


def test_check_loads_neither_boto3_nor_pulumi_nor_another_verb(project: Any) -> None:
    program = (
        "import sys; from nightshift.cli.main import run; code = run(['check']); "
        "print(code, sorted(m for m in sys.modules if m.split('.')[0] in {'boto3', 'botocore', 'pulumi', "
        "'moto', 'asyncio', 'concurrent', 'hypothesis'} or m.startswith('nightshift.cli.verb_')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=project.root, capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(project.root)},
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "0 ['nightshift.cli.verb_check']"


@pytest.mark.parametrize("verb", ONLINE)
def test_an_endpoint_that_is_no_url_is_told(
    project: Any, aws: Any, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    project.env["AWS_ENDPOINT_URL"] = "garbage"
    assert _say(project, verb, *NEEDS.get(verb, [])) == 1
    told = capsys.readouterr()
    assert "AWS_ENDPOINT_URL" in told.err + told.out


def test_shifts_without_a_usable_endpoint_leave_overrides_out(
    project: Any, aws: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    project.env["AWS_ENDPOINT_URL"] = "garbage"
    assert _say(project, "shifts") == 0
    assert "AWS_ENDPOINT_URL" in "".join(capsys.readouterr())
