"""A field that nothing reads is a promise that nobody keeps."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from pydantic import BaseModel

from nightshift.settings import Stack

ROOT = Path(__file__).parents[2]
READERS = ("infra", "nightshift/cli", "nightshift/rehearsal", "nightshift/settings/to_plan.py")
"""Where settings turn into resources, plans and answers; checking them is not reading them."""


def models(model: type[BaseModel] = Stack) -> Iterator[type[BaseModel]]:
    """The model and all that its fields hold."""
    yield model
    for field in model.model_fields.values():
        for inner in _inside(field.annotation):
            yield from models(inner)


def _inside(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in getattr(annotation, "__args__", ()):
        yield from _inside(argument)


FIELDS = sorted({f"{model.__name__}.{name}" for model in models() for name in model.model_fields})


@cache
def attributes_read() -> frozenset[str]:
    """Every attribute name that the readers load from something."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in _sources())
    nodes = (node for tree in trees for node in ast.walk(tree))
    return frozenset(node.attr for node in nodes if isinstance(node, ast.Attribute))


def _sources() -> Iterator[Path]:
    for reader in READERS:
        path = ROOT / reader
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def test_the_walk_finds_every_model() -> None:
    assert len({field.partition(".")[0] for field in FIELDS}) == 14
    assert {"Stack.region", "Job.when_done", "CapacityBlock.starts", "GivenNetwork.subnet"} <= set(FIELDS)


@pytest.mark.parametrize("field", FIELDS)
def test_something_reads_it(field: str) -> None:
    assert field.partition(".")[2] in attributes_read()
