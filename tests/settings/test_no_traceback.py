"""Whatever stands in a stack file, the answer is a stack or lines in words."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.settings import SettingsError, from_config, read_stack, yamltext
from nightshift.settings.document import config_of
from nightshift.settings.schema import PATH

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
Json = Any
JSON: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=8,
)
ODD = st.sampled_from(["-1h", "0m", "2026-99-99T99:99Z", "g5.2xlarge", "::/0", "a/b", "~"])
SHIPPED = {
    path.name: config_of(yamltext.load(path.read_bytes()))[0] for path in PATH.parent.glob("Pulumi.*.yaml")
}


def spots(value: Json, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The paths of everything in `value`."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += spots(item, (*path, key))
    return found


def problems_of(config: dict[str, Json]) -> tuple[str, ...]:
    """What is wrong with it; anything but a stack or a SettingsError comes through as it is."""
    try:
        from_config(config, "lab", now=NOW)
    except SettingsError as error:
        return (*error.problems, str(error).splitlines()[0])
    return ()


def answered(config: dict[str, Json]) -> None:
    """Every line is one line, of a length to read, and can be printed."""
    for line in problems_of(config):
        assert line
        assert "\n" not in line
        assert len(line.encode()) < 2_000


@given(st.dictionaries(st.sampled_from(["aws:region", "site", "volumes", "snapshots", "groups", "x"]), JSON))
@settings(deadline=None)
def test_any_values_under_the_topics(config: dict[str, Json]) -> None:
    answered(config)


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_any_value_in_place_of_one_in_a_shipped_stack(data: st.DataObject) -> None:
    config: Json = copy.deepcopy(data.draw(st.sampled_from(list(SHIPPED.values()))))
    *above, last = data.draw(st.sampled_from(spots(config)))
    spot = config
    for step in above:
        spot = spot[step]
    spot[last] = data.draw(
        JSON | st.sampled_from(["-1h", "0m", "2026-99-99T99:99Z", "g5.2xlarge", "::/0", "a/b", "~"])
    )
    answered(config)


@given(st.binary(max_size=60) | st.text("ab:{}[],&*-!%@`'\"#|>? \t\n<~0123", max_size=60).map(str.encode))
@settings(max_examples=300, deadline=None)
def test_any_bytes_in_the_file(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "Pulumi.lab.yaml"
    file.write_bytes(b"config:\n  nightshift:site:\n    " + data)
    with pytest.raises(SettingsError):
        read_stack(Path(file), NOW)
    file.write_bytes(data)
    with pytest.raises(SettingsError):
        read_stack(Path(file), NOW)


def test_a_name_with_a_line_break_breaks_no_line_that_lists_it() -> None:
    config: Json = copy.deepcopy(SHIPPED["Pulumi.team.yaml"])
    config["nightshift:volumes"] = {"\n": None}
    config["nightshift:groups"]["shared"]["volumes"] = ["ho\nme"]
    answered(config)
    assert any("ho\\nme" in line for line in problems_of(config))
