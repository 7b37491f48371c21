"""connect on the emulated AWS in this process: moto has no managed nodes, so that answer is given here."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bootstrap.launch.board import S3Board
from bootstrap.launch.lease import Lease
from nightshift.cli import connecting, verb_connect
from nightshift.cli.context import Context
from nightshift.cli.main import run
from nightshift.records.notebook import Notebook, NotebookRecord
from nightshift.records.store import Records
from tests.cli.conftest import data_bucket

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
TOKEN = "s3cr3t-" * 6
Ran = list[tuple[Sequence[str], Mapping[str, str]]]


class _Ssm:
    """Answers for every node alike."""

    class exceptions:
        class InvalidInstanceId(Exception):
            pass

    def __init__(self, ping: str | None) -> None:
        self._ping = ping

    def describe_instance_information(self, Filters: Any) -> Any:
        if self._ping == "unknown":
            raise self.exceptions.InvalidInstanceId
        (node,) = Filters[0]["Values"]
        rows = [{"InstanceId": node, "PingStatus": self._ping}] if self._ping else []
        return {"InstanceInformationList": rows}


@pytest.fixture(name="programs")
def _programs(project: Any) -> Path:
    folder = project.root / "bin"
    folder.mkdir()
    for name in verb_connect.PROGRAMS:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    project.env["PATH"] = str(folder)
    return folder


@pytest.fixture(name="ping")
def _ping(monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], None]:
    """What SSM says of a node, from now on."""
    from nightshift.cli.aws import Aws

    real = Aws.client

    def say(ping: str | None) -> None:
        def client(aws: Aws, service: str, region: str | None = None) -> Any:
            return _Ssm(ping) if service == "ssm" else real(aws, service, region)

        monkeypatch.setattr(Aws, "client", client)

    say("Online")
    return say


@pytest.fixture(name="node")
def _node(deployed: Callable[[str], Any], project: Any, ping: Any) -> str:
    """The desk is up, with users and a notebook each."""
    text = project.file.read_text()
    people = "tier: small\n      notebook: true\n      users: [ada, eve]"
    project.file.write_text(text.replace("tier: small", people))
    scaling = deployed("autoscaling")
    scaling.set_desired_capacity(AutoScalingGroupName="nightshift-lab.desk", DesiredCapacity=1)
    found = scaling.describe_auto_scaling_groups(AutoScalingGroupNames=["nightshift-lab.desk"])
    node = str(found["AutoScalingGroups"][0]["Instances"][0]["InstanceId"])
    notebooks = (Notebook("ada", 18_888, TOKEN), Notebook("eve", 18_889, "other"))
    record = NotebookRecord(node, "desk", NOW, notebooks)
    Records(deployed("s3"), data_bucket()).write_notebook(f"AROAX:{node}", record)
    return node


def _say(project: Any, *words: str) -> tuple[int, Ran, list[str]]:
    """Status, what it became, what it printed meanwhile."""
    ran: Ran = []
    put: list[str] = []

    def become(words: Any, env: Any) -> None:
        ran.append((list(words), dict(env)))

    context: Context = replace(project.context(), become=become, put=put.append)
    return run(["connect", *words], context), ran, put


def test_a_shell_goes_to_the_node_in_service(node: str, project: Any, programs: Path) -> None:
    code, ran, _ = _say(project, "desk")
    ((words, env),) = ran
    assert code == 0
    assert words == [
        str(programs / "aws"),
        *["ssm", "start-session", "--target", node, "--region", "us-east-1"],
    ]
    assert env["PATH"] == str(programs)


def test_a_profile_of_the_stack_file_is_used_unless_the_environment_has_its_own(
    node: str, project: Any, programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = project.file.read_text()
    project.file.write_text(text.replace("  aws:region:", "  aws:profile: lab\n  aws:region:"))
    assert "--profile" not in _say(project, "desk")[1][0][0]


def test_the_token_of_a_notebook_is_printed_and_in_no_argument(
    node: str, project: Any, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verb_connect, "free_port", lambda wanted, chosen: wanted)
    code, ran, put = _say(project, "desk", "--notebook", "--as", "ada", "--port", "19999")
    ((words, env),) = ran
    assert (code, put[0]) == (0, f"ada: http://127.0.0.1:19999/lab?token={TOKEN}")
    assert json.loads(words[-1]) == {"portNumber": ["18888"], "localPortNumber": ["19999"]}
    assert all(TOKEN not in text for text in (*words, *env.values()))


def test_whose_notebook_is_asked_where_there_are_several(
    node: str, project: Any, programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _say(project, "desk", "--notebook")[0] == 2
    assert "say whose with --as: ada, eve" in capsys.readouterr().err.replace("\n    ", " ")


def test_print_shows_the_command_and_runs_nothing(
    node: str, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    project.env["PATH"] = ""
    code, ran, _ = _say(project, "desk", "--as", "eve", "--print")
    told = capsys.readouterr()
    assert (code, ran) == (0, [])
    assert "--document-name AWS-StartInteractiveCommand \\\n" in told.out
    assert "sudo -iu eve" in told.out
    assert "install the AWS CLI 2" in told.err


def test_without_the_programs_it_says_what_to_install(
    node: str, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    project.env["PATH"] = ""
    code, ran, _ = _say(project, "desk")
    told = capsys.readouterr().err
    assert (code, ran) == (1, [])
    assert "install the AWS CLI 2" in told
    assert "install the Session Manager plugin" in told


@pytest.mark.parametrize(
    ("answer", "said"),
    [(None, "agent hasn't registered"), ("unknown", "agent hasn't registered"), ("Inactive", "Inactive")],
)
def test_a_node_that_isnt_managed_is_told_before_anything_is_tried(
    node: str,
    project: Any,
    programs: Path,
    ping: Callable[[str | None], None],
    answer: str | None,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ping(answer)
    code, ran, _ = _say(project, "desk")
    assert (code, ran) == (1, [])
    assert said in capsys.readouterr().err.replace("\n    ", " ")


def test_with_no_node_up_it_says_when_one_comes_and_how_to_wake_it(
    deployed: Callable[[str], Any], project: Any, ping: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    code, ran, _ = _say(project, "vit")
    told = capsys.readouterr().err.replace("\n    ", " ")
    assert (code, ran) == (1, [])
    assert "vit: no node is in service; it wakes Wed 2026-12-02 20:00 CST, in 27 h" in told
    assert "nightshift wake vit --for 3h -s lab" in told


def test_before_the_first_deployment_it_says_so(
    aws: Callable[[str], Any], project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    aws("s3").create_bucket(Bucket=data_bucket())
    assert _say(project, "vit", "--json")[0] == 1
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "not-deployed"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("vitt",), "no group vitt"),
        (("desk", "--as", "root"), "expected one of ada, eve"),
        (("vit", "--as", "ada"), "vit has no users"),
        (("desk", "--port", "80"), "--port is for --notebook"),
        (("desk", "--notebook", "--port", "0"), "expected 1 to 65535"),
        (("desk", "--node", "i-0dead"), "which isn't a node of desk"),
    ],
)
def test_wrong_words_are_told_with_what_is_allowed(
    node: str,
    project: Any,
    programs: Path,
    words: tuple[str, ...],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, ran, _ = _say(project, *words)
    assert (code, ran) == (2, [])
    assert said in capsys.readouterr().err.replace("\n    ", " ")


def test_the_ssh_block_alone_goes_to_stdout(
    node: str, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _say(project, "desk", "--ssh-config")[0] == 0
    told = capsys.readouterr()
    assert told.out.startswith("Host lab.desk\n")
    assert f"  HostName {node}\n  User ubuntu\n" in told.out
    assert "authorized_keys" in told.err


def test_json_has_the_command_and_the_url(
    node: str, project: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    project.env["PATH"] = os.environ["PATH"]
    code, ran, _ = _say(project, "desk", "--notebook", "--as", "ada", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (code, ran) == (0, [])
    assert told["url"] == f"http://127.0.0.1:18888/lab?token={TOKEN}"
    assert told["command"][:4] == ["aws", "ssm", "start-session", "--target"]


def test_the_leader_is_read_where_the_nodes_write_it(deployed: Callable[[str], Any]) -> None:
    """The node's own board writes the lease, so that both go by one place and one field."""
    s3 = deployed("s3")
    assert verb_connect.read_leader(s3, data_bucket(), "vit") is None
    lease = Lease("i-0abc", "t", "run", 1, "running")
    S3Board(deployed("s3"), data_bucket(), "vit").write_lease(lease, None)
    assert verb_connect.read_leader(s3, data_bucket(), "vit") == "i-0abc"
    s3.put_object(Bucket=data_bucket(), Key="groups/vit/leader.json", Body=b"[")
    assert verb_connect.read_leader(s3, data_bucket(), "vit") is None


@pytest.mark.parametrize("words", [(), ("--notebook", "--as", "ada"), ("--ssh-config",)])
def test_json_names_the_programs_that_are_missing(
    node: str, project: Any, programs: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _say(project, "desk", *words, "--json")[0] == 0
    assert "plugin" not in " ".join(json.loads(capsys.readouterr().out)["needs"])
    (programs / "session-manager-plugin").unlink()
    assert _say(project, "desk", *words, "--json")[0] == 0
    assert "install the Session Manager plugin: " in " ".join(json.loads(capsys.readouterr().out)["needs"])


def test_a_group_that_never_has_a_notebook_says_so_asleep_or_not(
    deployed: Callable[[str], Any], project: Any, ping: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    code, ran, _ = _say(project, "vit", "--notebook")
    said = capsys.readouterr().err
    assert (code, ran) == (2, [])
    assert "vit has no notebook" in said
    assert "wake" not in said


def test_what_is_said_of_several_nodes_fits_the_page(
    node: str, project: Any, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = connecting.Chosen(
        node, "desk has 3 nodes: this is the leader; --node says another: " + f"{node}, " * 3
    )
    monkeypatch.setattr(verb_connect, "find", lambda *_: there)
    said: list[str] = []
    context: Context = replace(project.context(), become=lambda words, env: None, say=said.append)
    assert run(["connect", "desk"], context) == 0
    assert said
    assert max(map(len, said)) <= 80
