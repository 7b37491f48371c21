"""Which stack is meant."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from nightshift.cli.context import profile_of
from nightshift.cli.errors import StackProblems, UsageError
from nightshift.cli.project import StackFile, choose


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    (tmp_path / "Pulumi.yaml").write_text("name: nightshift\n")
    (tmp_path / "stacks").mkdir()
    (tmp_path / "deep" / "er").mkdir(parents=True)
    return tmp_path


def _add(root: Path, *names: str) -> None:
    for name in names:
        (root / "stacks" / f"Pulumi.{name}.yaml").write_text("config: {}\n")


def test_the_only_stack_needs_no_name_and_is_found_from_below(root: Path) -> None:
    _add(root, "lab")
    found = choose(root / "deep" / "er", None, {})
    assert (found.name, found.path, found.root) == ("lab", root / "stacks" / "Pulumi.lab.yaml", root)


def test_of_several_the_option_goes_before_the_environment_before_pulumis_selection(root: Path) -> None:
    _add(root, "lab", "solo", "team")
    home = root / "home"
    digest = hashlib.sha1(str(root / "Pulumi.yaml").encode()).hexdigest()
    note = home / ".pulumi" / "workspaces" / f"nightshift-{digest}-workspace.json"
    note.parent.mkdir(parents=True)
    note.write_text(json.dumps({"stack": "organization/nightshift/team"}))
    env = {"HOME": str(home), "PULUMI_STACK": "solo"}
    assert choose(root, "lab", env).name == "lab"
    assert choose(root, None, env).name == "solo"
    assert choose(root, None, {"HOME": str(home)}).name == "team"
    note.write_text("damaged")
    with pytest.raises(UsageError, match="which stack"):
        choose(root, None, {"HOME": str(home)})


def test_of_several_backends_the_one_in_use_says_what_is_selected(root: Path) -> None:
    """The note as Pulumi 3.274.1 writes it."""
    _add(root, "lab", "mylab")
    home = root / "home"
    digest = hashlib.sha1(str(root / "Pulumi.yaml").encode()).hexdigest()
    note = home / "workspaces" / f"nightshift-{digest}-workspace.json"
    note.parent.mkdir(parents=True)
    one = {"file:///states": "organization/nightshift/mylab"}
    note.write_text(json.dumps({"stacks": one}))
    env = {"PULUMI_HOME": str(home)}
    assert choose(root, None, env).name == "mylab"
    note.write_text(json.dumps({"stacks": {**one, "s3://states": "organization/nightshift/lab"}}))
    with pytest.raises(UsageError, match="which stack"):
        choose(root, None, env)
    (home / "credentials.json").write_text(json.dumps({"current": "s3://states"}))
    assert choose(root, None, env).name == "lab"
    assert choose(root, None, {**env, "PULUMI_BACKEND_URL": "file:///states"}).name == "mylab"


def test_a_path_to_a_stack_file_names_the_stack(root: Path) -> None:
    _add(root, "lab", "solo")
    with pytest.raises(UsageError, match="say --stack lab"):
        choose(root, "stacks/Pulumi.lab.yaml", {})


def test_several_and_none_chosen_lists_them(root: Path) -> None:
    _add(root, "lab", "solo")
    with pytest.raises(UsageError, match="Say --stack NAME: stacks/ has lab, solo"):
        choose(root, None, {})


def test_an_unknown_stack_names_the_close_one(root: Path) -> None:
    _add(root, "lab", "solo")
    with pytest.raises(UsageError, match="Did you mean lab"):
        choose(root, "labb", {})


def test_no_project_and_no_stacks_say_so(root: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no Pulumi\.<stack>\.yaml"):
        choose(root, None, {})
    (root / "Pulumi.yaml").unlink()
    with pytest.raises(UsageError, match=r"no Pulumi\.yaml"):
        choose(root, None, {})


def _profile(root: Path, text: str | bytes) -> str | None:
    file = root / "stacks" / "Pulumi.lab.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return profile_of(StackFile("lab", file, root))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("123456", "123456"),
        ("on", "on"),
        ("yes", "yes"),
        ("true", "true"),
        ("0x1F", "31"),
        ("!foo lab", "lab"),
        ("2026-12-24", "2026-12-24 00:00:00 +0000 UTC"),
        ("''", None),
        ("~", None),
        ("", None),
    ],
)
def test_a_profile_is_the_text_that_pulumi_reads(root: Path, written: str, meant: str | None) -> None:
    assert _profile(root, f"config:\n  aws:profile: {written}\n") == meant
    assert _profile(root, f"config:\n  aws:config:profile: {written}\n") == meant
    assert _profile(root, f"base: &b {{aws:profile: {written}}}\nconfig: {{<<: *b}}\n") == meant


@pytest.mark.parametrize(
    "beside",
    [
        "---\nconfig: {aws:profile: other}\n",
        "---\nother: *gone\n",
        "  nightshift:site: {owner: 2026-02-30}\n",
        "  nightshift:site: {owner: 0x_}\n",
        "  other:thing: !foo 3\n",
        "  other:thing: {secure: v1:x}\n",
    ],
)
def test_a_profile_is_found_beside_all_that_check_allows(root: Path, beside: str) -> None:
    text = f"config:\n  aws:profile: lab\n{beside}"
    assert _profile(root, text) == "lab"
    assert _profile(root, text.encode("utf-16")) == "lab"
    assert _profile(root, text.encode("utf-8-sig")) == "lab"


@pytest.mark.parametrize("text", ["", "config:\n", "config: {aws:region: us-east-1}\n", "other: 1\n"])
def test_a_file_without_a_profile_has_none(root: Path, text: str) -> None:
    assert _profile(root, text) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("config: {aws:profile: {secure: v1:x}}", "aws:profile holds an encrypted value"),
        ("config: {aws:profile: [a]}", "aws:profile must be the name of one profile"),
        ("config: [", "Pulumi.lab.yaml: line 2"),
        (b"config: {a: \xff\xfe}", "save the file as UTF-8"),
    ],
)
def test_a_profile_that_cannot_be_read_is_told_and_never_passed_over(
    root: Path, text: str | bytes, says: str
) -> None:
    with pytest.raises(StackProblems, match=says):
        _profile(root, text)
