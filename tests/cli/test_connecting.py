"""connect, decided: which node, which command, which words when there's no way."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.cli import connecting
from nightshift.cli.connecting import Reach
from nightshift.cli.errors import CliError, UsageError
from nightshift.cli.live import LiveGroup, LiveNode
from nightshift.records.notebook import Notebook, NotebookRecord

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
ONE, TWO = "i-0abc0000000000001", "i-0abc0000000000002"
REACH = Reach("us-east-1")


def _group(**states: str) -> LiveGroup:
    nodes = tuple(
        LiveNode(f"i-{name}", "g6.2xlarge", "us-east-1a", state, True) for name, state in states.items()
    )
    return LiveGroup("vit", "nightshift-lab.vit", len(nodes), nodes)


def test_the_one_node_in_service_is_taken_without_a_word() -> None:
    live = _group(a="Pending:Wait", b="InService", c="Terminating:Wait")
    assert connecting.choose("vit", live, None) == connecting.Chosen("i-b")


def test_of_several_the_leader_is_taken_and_the_others_named() -> None:
    live = _group(a="InService", b="InService", c="InService")
    chosen = connecting.choose("vit", live, None, "i-b")
    assert chosen is not None
    assert chosen.id == "i-b"
    assert "3 nodes: this is the leader; --node says another: i-a, i-c" in chosen.note


@pytest.mark.parametrize("leader", [None, "i-gone"])
def test_without_a_living_leader_the_first_is_taken(leader: str | None) -> None:
    chosen = connecting.choose("vit", _group(a="InService", b="InService"), None, leader)
    assert chosen is not None
    assert (chosen.id, "the first" in chosen.note) == ("i-a", True)


def test_a_booting_node_is_reached_by_name_only() -> None:
    live = _group(a="Pending:Wait", b="Terminated")
    assert connecting.choose("vit", live, None) is None
    assert connecting.choose("vit", live, "i-a") == connecting.Chosen("i-a")
    assert connecting.starting("vit", live) == [
        "vit has i-a (Pending:Wait): --node i-a goes there all the same"
    ]
    with pytest.raises(UsageError, match=r"i-b, which isn't a node of vit; it has i-a \(Pending:Wait\)"):
        connecting.choose("vit", live, "i-b")


def test_a_node_that_comes_is_offered_before_one_that_goes() -> None:
    (said,) = connecting.starting("vit", _group(a="Terminating:Wait", b="Pending:Wait", c="Terminated"))
    assert said == "vit has i-b (Pending:Wait), i-a (Terminating:Wait): --node i-b goes there all the same"


def test_a_shell_is_the_plain_session() -> None:
    assert connecting.shell(REACH, ONE, None) == [
        "aws",
        "ssm",
        "start-session",
        "--target",
        ONE,
        "--region",
        "us-east-1",
    ]


def test_a_users_shell_is_an_interactive_command() -> None:
    words = connecting.shell(Reach("us-east-1", "lab"), ONE, "ada")
    assert words[5:9] == ["--region", "us-east-1", "--profile", "lab"]
    assert words[9:12] == ["--document-name", "AWS-StartInteractiveCommand", "--parameters"]
    assert json.loads(words[12]) == {"command": ["sudo -iu ada"]}


def test_a_port_is_forwarded_from_the_nodes_loopback() -> None:
    words = connecting.forward(REACH, ONE, 8888, 9000)
    assert words[8] == "AWS-StartPortForwardingSession"
    assert json.loads(words[-1]) == {"portNumber": ["8888"], "localPortNumber": ["9000"]}


@given(st.lists(st.text(st.characters(codec="ascii", exclude_characters="\0"), min_size=1), max_size=6))
def test_a_shown_command_is_read_by_a_shell_as_it_is_run(extra: list[str]) -> None:
    words = [*connecting.shell(Reach("us-east-1", "our lab"), ONE, "ada"), *extra]
    text = "\n".join(connecting.shown(words)).replace(" \\\n", " ")
    assert shlex.split(text) == words


def test_a_shown_command_fits_the_page(golden: Callable[[str, Any], None]) -> None:
    golden("connect", connecting.shown(connecting.shell(REACH, ONE, "ada")))
    lines = connecting.shown(connecting.forward(Reach("us-east-1", "lab"), ONE, 18_888, 18_888))
    assert max(map(len, lines)) <= 80


def test_a_user_must_be_one_of_the_groups(project: Any) -> None:
    with pytest.raises(UsageError, match="desk has no users"):
        connecting.known_user(project.stack, "desk", "ada")
    project.file.write_text(
        project.file.read_text().replace("tier: small", "tier: small\n      users: [ada, eve]")
    )
    assert connecting.known_user(project.stack, "desk", "eve") == "eve"
    with pytest.raises(UsageError, match="expected one of ada, eve"):
        connecting.known_user(project.stack, "desk", "root; true")


def _record(*notebooks: Notebook) -> NotebookRecord:
    return NotebookRecord(ONE, "desk", NOW, notebooks)


ADA, EVE = Notebook("ada", 8888, "t" * 48), Notebook("eve", 8889, "u" * 48)


@pytest.fixture(name="stack")
def _stack(project: Any) -> Any:
    project.file.write_text(
        project.file.read_text().replace(
            "tier: small", "tier: small\n      notebook: true\n      users: [ada, eve]"
        )
    )
    return project.stack


def test_the_only_notebook_is_taken_and_one_of_several_must_be_named(stack: Any) -> None:
    assert connecting.notebook_of(stack, "desk", ONE, _record(ADA), None) == ADA
    assert connecting.notebook_of(stack, "desk", ONE, _record(ADA, EVE), "eve") == EVE
    with pytest.raises(UsageError, match="2 notebooks: say whose with --as: ada, eve"):
        connecting.notebook_of(stack, "desk", ONE, _record(ADA, EVE), None)
    with pytest.raises(UsageError, match="given 'bob'"):
        connecting.notebook_of(stack, "desk", ONE, _record(ADA, EVE), "bob")


def test_a_notebook_that_cant_be_had_is_told_why(stack: Any) -> None:
    with pytest.raises(UsageError, match="vit has no notebook"):
        connecting.notebook_of(stack, "vit", ONE, None, None)
    with pytest.raises(CliError, match="hasn't said yet"):
        connecting.notebook_of(stack, "desk", ONE, None, None)
    with pytest.raises(CliError, match="has ended its notebooks"):
        connecting.notebook_of(stack, "desk", ONE, _record(), None)
    broken = replace(ADA, problem="jupyter isn't in the runtime")
    with pytest.raises(CliError, match=r"ada on .* doesn't run: jupyter isn't"):
        connecting.notebook_of(stack, "desk", ONE, _record(broken), None)


def test_the_ssh_block_has_what_ssh_puts_in(project: Any) -> None:
    block = connecting.ssh_block("lab", "vit", Reach("us-east-1", "a %b"), ONE, "ubuntu")
    assert block[0] == "Host lab.vit"
    assert f"  HostName {ONE}" in block
    assert block[-1] == (
        "  ProxyCommand aws ssm start-session --target %h --region us-east-1 --profile 'a %%b' "
        "--document-name AWS-StartSSHSession --parameters portNumber=%p"
    )


def test_the_ssh_block_says_whose_key_it_needs(project: Any) -> None:
    assert "site.ssh names no key pair" in " ".join(connecting.ssh_needs(project.stack, "vit", "ubuntu"))
    text = project.file.read_text()
    keyed = text.replace("    owner:", '    ssh: {from: ["203.0.113.0/24"], key: team}\n    owner:')
    project.file.write_text(keyed)
    needs = " ".join(connecting.ssh_needs(project.stack, "vit", "ubuntu"))
    assert "private key of the key pair team (site.ssh.key)" in needs
    assert "for the image's own user only" in " ".join(connecting.ssh_needs(project.stack, "vit", "ada"))


def test_an_unreachable_node_is_told_apart_from_an_unknown_one() -> None:
    assert "doesn't answer (AWS calls it ConnectionLost)" in str(
        connecting.unmanaged(ONE, "ConnectionLost", True)
    )
    assert "wait a minute or two" in str(connecting.unmanaged(ONE, None, True))
    assert "by NAT or by endpoints" in str(connecting.unmanaged(ONE, None, False))


def test_what_is_missing_here_is_named_with_its_page() -> None:
    assert connecting.lacking({"aws": "/x", "session-manager-plugin": "/y"}) == []
    says = connecting.lacking({"aws": "/x", "session-manager-plugin": None})
    assert len(says) == 1
    assert "Session Manager plugin: https://docs.aws.amazon.com/" in says[0]
