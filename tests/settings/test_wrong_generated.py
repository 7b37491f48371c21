"""Every field of the models, broken in every way that its schema knows: just that is said, nothing else."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path as Folder
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.settings import SettingsError, Stack, from_config

Path = tuple[str | int, ...]
Json = Any
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
SCHEMA = Stack.model_json_schema(by_alias=True)
FULL: dict[str, Json] = json.loads((Folder(__file__).parent / "every_field.json").read_text(encoding="utf-8"))
"""A sound stack in which every field of every model is given."""
GIVEN_NETWORK = copy.deepcopy(FULL)
GIVEN_NETWORK["site"]["network"] = {"vpc": "vpc-0abc0000000000001", "subnet": "subnet-0abc0000000000001"}


class Violation(NamedTuple):
    """What to put at `at` (or to take out), and where the one problem must be told, beginning how."""

    kind: str
    at: Path
    value: Json
    told_at: Path
    says: str

    @property
    def line(self) -> str:
        """How the line must begin."""
        return f"{_dotted(self.told_at)}: {self.says}"


_GONE = object()


def _dotted(path: Path) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def _resolved(node: Json) -> Json:
    while "$ref" in node:
        node = SCHEMA["$defs"][node["$ref"].rpartition("/")[2]]
    return node


def _form(node: Json, value: Json) -> Json:
    """The form of a union that `value` has."""
    node = _resolved(node)
    forms = [_resolved(form) for form in node.get("anyOf") or node.get("oneOf") or ()]
    if not forms:
        return node
    if isinstance(value, dict):
        return next(form for form in forms if set(value) <= set(form.get("properties", ())))
    kind = {str: "string", int: "integer", bool: "boolean", list: "array"}[type(value)]
    return next(form for form in forms if form.get("type") == kind)


def violations(node: Json, value: Json, path: Path = ()) -> Iterator[Violation]:
    """All of them below `path`."""
    form = _form(node, value)
    if path:
        yield from _of_type(form, path)
    if isinstance(value, dict):
        yield from _of_mapping(form, value, path)
    elif isinstance(value, list):
        yield from _of_list(form, value, path)
    else:
        yield from _of_scalar(form, path)


def _of_type(form: Json, path: Path) -> Iterator[Violation]:
    wrong: dict[str, tuple[Json, ...]] = {
        "string": (7, True, ["x"], {"x": 1}, 1.5),
        "integer": ("7", True, 1.5, [7], {"x": 1}, "seven"),
        "boolean": ("on", 1, "true", [True]),
        "array": ("x", 7, {"x": 1}, True),
        "object": (7, ["x"], True),
    }
    for value in wrong[form["type"]]:
        yield Violation("type", path, value, path, "given ")


def _of_scalar(form: Json, path: Path) -> Iterator[Violation]:
    if "enum" in form:
        yield Violation("enum", path, "nope" if form["type"] == "string" else 10**6, path, "given ")
    if "pattern" in form:
        for text in ("", "!", "x" * 600):
            yield Violation("pattern", path, text, path, "given ")
    if "minimum" in form:
        yield Violation("below", path, form["minimum"] - 1, path, f"given {form['minimum'] - 1}, expected a ")
        yield Violation("above", path, form["maximum"] + 1, path, f"given {form['maximum'] + 1}, expected a ")
    if "minLength" in form:
        yield Violation("too short", path, "", path, "given 0 characters, expected text")
        size = form["maxLength"] + 1
        yield Violation("too long", path, "x" * size, path, f"given {size} characters, expected text")


def _of_list(form: Json, value: list[Json], path: Path) -> Iterator[Violation]:
    yield from violations(form["items"], value[0], (*path, 0))
    if form.get("minItems"):
        yield Violation("too few", path, [], path, "given 0 items, expected a list")
    if "maxItems" in form:
        size = form["maxItems"] + 1
        yield Violation("too many", path, value[:1] * size, path, f"given {size} items, expected a list")


def _of_mapping(form: Json, value: dict[str, Json], path: Path) -> Iterator[Violation]:
    if "properties" not in form:
        yield from _of_names(form, value, path)
        return
    known = form["properties"]
    yield Violation("unknown", (*path, "qqqq"), 1, (*path, "qqqq"), "unknown key, allowed are ")
    for key, item in value.items():
        if key in form.get("required", ()):
            yield Violation("missing", (*path, key), _GONE, (*path, key), "missing, expected ")
        slip = _slip(key, known)
        if slip:
            hint = f'unknown key, did you mean "{key}"?'
            yield Violation("misspelt", (*path, slip), 1, (*path, slip), hint)
        yield from violations(known[key], item, (*path, key))


def _of_names(form: Json, value: dict[str, Json], path: Path) -> Iterator[Violation]:
    (node,) = form["patternProperties"].values()
    if form.get("minProperties"):
        yield Violation("too few", path, {}, path, "given 0 items, expected a mapping")
    some = list(value.values())[-1]
    more = {f"n{index}": some for index in range(form["maxProperties"] + 1 - len(value))}
    crowd = {**value, **more}
    yield Violation("too many", path, crowd, path, f"given {len(crowd)} items, expected a mapping")
    yield Violation(
        "name", (*path, "No_name"), some, (*path, "No_name"), 'given the name "No_name", expected '
    )
    for name, item in value.items():
        yield from violations(node, item, (*path, name))


def _slip(key: str, known: dict[str, Json]) -> str | None:
    """The key with two letters swapped; None where that is another key or too short to be recognised."""
    swapped = key[:-2] + key[-1] + key[-2]
    return swapped if len(key) > 4 and swapped not in known and swapped != key else None


def broken(base: dict[str, Json], chosen: list[Violation]) -> dict[str, Json]:
    """A copy of `base` with each violation in it."""
    result = copy.deepcopy(base)
    for violation in chosen:
        spot: Json = result
        for step in violation.at[:-1]:
            spot = spot[step]
        if violation.value is _GONE:
            del spot[violation.at[-1]]
        else:
            spot[violation.at[-1]] = violation.value
    return result


def told(config: dict[str, Json]) -> tuple[str, ...]:
    """What `up` and `check` say of it."""
    with pytest.raises(SettingsError) as refused:
        from_config({"aws:region": "us-east-1", **config}, "lab", now=NOW)
    return refused.value.problems


TOPICS = {**SCHEMA, "properties": {key: SCHEMA["properties"][key] for key in FULL}}
ALL = [item for item in violations(TOPICS, FULL) if item.at != ("qqqq",)]
OF_NETWORK = [item for item in violations(TOPICS, GIVEN_NETWORK) if "network" in item.at]


def test_the_file_that_is_broken_here_is_sound_and_holds_every_field() -> None:
    stack = from_config({"aws:region": "us-east-1", **FULL}, "lab", now=NOW)
    from_config({"aws:region": "us-east-1", **GIVEN_NETWORK}, "lab", now=NOW)
    fields = {f"{model}.{key}" for model, node in SCHEMA["$defs"].items() for key in node["properties"]}
    given_keys = {key for item in (*ALL, *OF_NETWORK) for key in item.at if isinstance(key, str)}
    assert stack.name == "lab"
    assert {field for field in fields if field.partition(".")[2] not in given_keys} == set()


def test_every_kind_of_violation_occurs() -> None:
    kinds = {item.kind for item in ALL}
    expected = "type enum pattern below above missing unknown misspelt name"
    assert kinds == {*expected.split(), "too short", "too long", "too few", "too many"}


@pytest.mark.parametrize(
    ("base", "violation"),
    [
        *(
            pytest.param(FULL, item, id=f"{item.kind} {_dotted(item.at)} {number}")
            for number, item in enumerate(ALL)
        ),
        *(
            pytest.param(GIVEN_NETWORK, item, id=f"{item.kind} given {_dotted(item.at)} {number}")
            for number, item in enumerate(OF_NETWORK)
        ),
    ],
)
def test_a_violation_is_told_alone_and_where_it_is(base: dict[str, Json], violation: Violation) -> None:
    lines = told(broken(base, [violation]))
    assert len(lines) == 1
    assert lines[0].startswith(violation.line)
    assert "\n" not in lines[0]


def _apart(one: Path, other: Path) -> bool:
    """Whether neither lies in the other."""
    size = min(len(one), len(other))
    return one[:size] != other[:size]


@st.composite
def several(draw: st.DrawFn) -> list[Violation]:
    """Two to six violations, none inside another."""
    chosen: list[Violation] = []
    for item in draw(st.lists(st.sampled_from(ALL), min_size=2, max_size=6)):
        if all(_apart(item.at, other.at) for other in chosen):
            chosen.append(item)
    return chosen


@given(several())
@settings(max_examples=300, deadline=None)
def test_several_violations_are_all_told_in_one_go(chosen: list[Violation]) -> None:
    lines = told(broken(FULL, chosen))
    expected = sorted(item.line for item in chosen)
    assert len(lines) == len(expected)
    for begin in expected:
        assert any(line.startswith(begin) for line in lines)
