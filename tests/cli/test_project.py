"""Which stack is meant."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from nightshift.cli.errors import UsageError
from nightshift.cli.project import choose


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
