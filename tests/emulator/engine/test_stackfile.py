"""The copy of a stack file, the engine's environment and its results: nothing leads to a real account."""

import json
from pathlib import Path

import pytest

from nightshift.emulator.engine import environment, results, stackfile
from nightshift.emulator.engine.errors import WorkspaceError
from nightshift.emulator.engine.toolchain import Toolchain

TEXT = """\
# ours
secretsprovider: awskms://alias/x
encryptionsalt: v1:abc
config:
  aws:region: us-east-1
  aws:profile: production
  aws:assumeRoles:
    - roleArn: arn:aws:iam::1:role/x
  # a comment that stays
  nightshift:site: {at: 07:00, on: yes}
  aws:endpoints:
    - ec2: http://elsewhere
"""


def test_only_the_ways_to_a_real_account_are_left_out() -> None:
    assert stackfile.harmless(TEXT) == (
        "# ours\nconfig:\n  aws:region: us-east-1\n  # a comment that stays\n"
        "  nightshift:site: {at: 07:00, on: yes}\n"
    )


@pytest.mark.parametrize(
    "text", ["", "config:\n", "config: {a: b}\n", "\tconfig: [", "- 1\n", "config:\n  a:b: 1"]
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert stackfile.harmless(text) == text


def test_a_setting_that_cannot_be_cut_out_by_line_is_refused_by_name() -> None:
    with pytest.raises(WorkspaceError, match="line 1: aws:profile must stand on its own line"):
        stackfile.harmless('config: {"aws:profile": production}\n')


@pytest.mark.parametrize("name", ["stack.yaml", "Pulumi.yaml", "Pulumi.lab.json"])
def test_a_stack_file_has_the_engines_kind_of_name(name: str) -> None:
    assert stackfile.stack_name(Path("/x/Pulumi.lab.yaml")) == "lab"
    with pytest.raises(WorkspaceError, match=r"Pulumi\.<stack>\.yaml"):
        stackfile.stack_name(Path(name))


def test_the_environment_leads_to_the_emulator_alone(tmp_path: Path) -> None:
    toolchain = Toolchain(tmp_path / "pulumi", "3", tmp_path / "host", "bridge", "5.100.0")
    base = {
        "PATH": "/usr/bin",
        "HOME": "/home/x",
        "AWS_PROFILE": "production",
        "AWS_SESSION_TOKEN": "real",
        "AWS_CA_BUNDLE": "/x.pem",
        "AWS_ENDPOINT_URL_EC2": "http://elsewhere",
        "PULUMI_ACCESS_TOKEN": "real",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    made = environment.engine_environment(
        base, toolchain, tmp_path, Path("/venv/bin/python"), "http://127.0.0.1:1"
    )
    assert {name for name in made if name.startswith("AWS_")} == set(environment.aws_environment("x"))
    assert made["AWS_ENDPOINT_URL"] == "http://127.0.0.1:1"
    assert made["PATH"] == f"{tmp_path}/bin:/venv/bin:{tmp_path}/host:/usr/bin"
    assert made["PULUMI_BACKEND_URL"].startswith("file://")
    assert made["HOME"] == "/home/x"
    assert not {"PULUMI_ACCESS_TOKEN", "PULUMI_DEBUG_PROVIDERS", "PYTHONDONTWRITEBYTECODE"} & made.keys()


@pytest.mark.parametrize("endpoint", ["https://ec2.us-east-1.amazonaws.com", "http://10.0.0.1:5000", "", "x"])
def test_an_endpoint_off_this_machine_is_refused(endpoint: str) -> None:
    assert environment.emulated("http://127.0.0.1:5000") == "http://127.0.0.1:5000"
    assert environment.emulated("http://localhost:5000") == "http://localhost:5000"
    with pytest.raises(WorkspaceError, match="not on this machine"):
        environment.emulated(endpoint)


URN = "urn:pulumi:lab::p::nightshift:infra:Volumes$aws:ebs/volume:Volume::data"


def _log(folder: Path, *events: dict, torn: str = "") -> Path:
    path = folder / "events.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events) + torn)
    return path


def test_a_finished_run_is_told_by_its_summary(tmp_path: Path) -> None:
    step = {"op": "update", "urn": URN, "diffs": ["size"]}
    log = _log(
        tmp_path,
        {"resOutputsEvent": {"metadata": step}},
        {"resOutputsEvent": {"metadata": step}},
        {"diagnosticEvent": {"severity": "debug", "message": "noise"}},
        {"diagnosticEvent": {"severity": "warning", "message": "careful\n", "urn": URN}},
        {"summaryEvent": {"resourceChanges": {"update": 1, "same": 3}}},
    )
    result = results.read_result("up", 0, 1.5, log, "text")
    assert (result.ok, result.changed, dict(result.changes)) == (True, 1, {"update": 1, "same": 3})
    assert result.steps == (results.Step("update", URN, False, ("size",)),)
    assert (result.steps[0].type, result.steps[0].name) == ("aws:ebs/volume:Volume", "data")
    assert result.diagnostics == "data: warning: careful"


def test_a_killed_run_is_told_by_the_steps_it_finished(tmp_path: Path) -> None:
    log = _log(
        tmp_path,
        {"resOutputsEvent": {"metadata": {"op": "create", "urn": URN}}},
        {"resOpFailedEvent": {"metadata": {"op": "create", "urn": URN + "2"}}},
        torn='{"resOutputsEvent": {"meta',
    )
    result = results.read_result("up", -9, 1, log, "last words\n")
    assert (result.ok, dict(result.changes)) == (False, {"create": 1})
    assert [step.failed for step in result.steps] == [False, True]
    assert result.diagnostics == "last words"


def test_a_run_that_wrote_no_log_still_tells_its_output(tmp_path: Path) -> None:
    result = results.read_result("up", 255, 1, tmp_path / "none", "error: no stack\n")
    assert (result.changed, result.diagnostics) == (0, "error: no stack")
