"""The schema for editors is current, and every field says what a change of it costs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from pydantic import BaseModel

from nightshift.settings import schema, yamltext
from nightshift.settings.group import CapacityBlock, Group, Idle, Job, Mix, Shift
from nightshift.settings.models import Stack
from nightshift.settings.site import Budget, GivenNetwork, OwnNetwork, Site, Ssh
from nightshift.settings.storage import SnapshotPolicy, Volume

MODELS: tuple[type[BaseModel], ...] = (
    Stack,
    Site,
    Budget,
    Ssh,
    OwnNetwork,
    GivenNetwork,
    Volume,
    SnapshotPolicy,
    Group,
    Shift,
    Mix,
    CapacityBlock,
    Idle,
    Job,
)
COST = re.compile(r"\S.* Change: (?:in place|new nodes|refused)(?:[,;] [^.]+| [^.]+)?\.")
STACKS = sorted(schema.PATH.parent.glob("Pulumi.*.yaml"))


def fields() -> Iterator[tuple[str, str]]:
    """Every field of every model with its description."""
    for model in MODELS:
        for name, field in model.model_fields.items():
            yield f"{model.__name__}.{name}", field.description or ""


def test_the_file_is_current() -> None:
    assert schema.PATH.read_text(encoding="utf-8") == schema.text()


def test_check_tells_a_current_file_from_a_stale_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(schema, "PATH", tmp_path / "stacks" / "settings.schema.json")
    assert schema.main(["--check"]) == 1
    assert "stale" in capsys.readouterr().out
    assert schema.main([]) == 0
    assert schema.main(["--check"]) == 0


@pytest.mark.parametrize(("field", "description"), list(fields()))
def test_every_field_says_what_a_change_costs(field: str, description: str) -> None:
    assert COST.fullmatch(description), f"{field}: {description}"


def test_the_models_here_are_all_that_the_schema_knows() -> None:
    known = set(Stack.model_json_schema()["$defs"]) | {"Stack"}
    assert known == {model.__name__ for model in MODELS}


@pytest.mark.parametrize("file", STACKS, ids=lambda file: file.name)
def test_the_shipped_stacks_satisfy_it(file: Path) -> None:
    jsonschema.validate(yamltext.load(file.read_bytes()), json.loads(schema.text()))


@pytest.mark.parametrize(
    "config",
    [
        {"nightshift:site": {}},
        {"aws:region": "us-east-1", "nightshift:grups": {}},
        {"aws:region": "us-east-1", "nightshift:volumes": {"No_name": {"size_gib": 1}}},
    ],
)
def test_editors_mark_what_the_program_refuses(config: dict[str, object]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"config": config}, json.loads(schema.text()))
