"""What the schema expects at a path of the stack file, in words. Read only once something is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from nightshift.settings.models import Stack
from nightshift.settings.problem import Step

Schema = Mapping[str, Any]


@cache
def _root() -> Schema:
    return Stack.model_json_schema(by_alias=True)


def expected_at(path: tuple[Step, ...]) -> str:
    """Completes "expected ..." for the value at `path`."""
    return " or ".join(dict.fromkeys(_words(node) for node in _top(path))) or "nothing"


def expected_key(path: tuple[Step, ...]) -> str:
    """Completes "expected ..." for a key of the mapping at `path`."""
    names = (node.get("propertyNames", {}) for node in _nodes(path))
    return next((str(found["patternErrorMessage"]) for found in names if found), "a name")


def accepts(path: tuple[Step, ...], text: str) -> bool:
    """Whether `text` would do as the text at `path`; False where the schema alone can't tell."""
    texts = [node for node in _nodes(path) if node.get("type") == "string"]
    return any(re.search(node["pattern"], text) for node in texts if "pattern" in node) or any(
        "minLength" in node and "pattern" not in node for node in texts
    )


def words_at(path: tuple[Step, ...]) -> tuple[str, ...]:
    """The words of which the value at `path` may be one."""
    values = [value for node in _nodes(path) for value in node.get("enum", [node.get("const")])]
    return tuple(value for value in values if isinstance(value, str))


@cache
def keys_at(path: tuple[Step, ...]) -> tuple[str, ...]:
    """The keys that the mapping at `path` may have."""
    return tuple(dict.fromkeys(key for node in _nodes(path) for key in node.get("properties", {})))


def position(path: tuple[Step, ...]) -> tuple[tuple[int, Step], ...]:
    """Sorts paths in the order of the schema; named things and unknown keys by name, after the known ones."""
    return tuple(_place(path[:depth], step) for depth, step in enumerate(path))


def _place(parent: tuple[Step, ...], step: Step) -> tuple[int, Step]:
    if isinstance(step, int):
        return (step, "")
    keys = keys_at(parent)
    return (keys.index(step), "") if step in keys else (len(keys), step)


def _top(path: tuple[Step, ...]) -> list[Schema]:
    """The nodes at `path` before a worded union is taken apart."""
    return [_follow(node) for parent in _nodes(path[:-1]) for node in _step(parent, path[-1])]


@cache
def _nodes(path: tuple[Step, ...]) -> tuple[Schema, ...]:
    if not path:
        return tuple(_forms(_root()))
    above = _nodes(path[:-1])
    return tuple(form for node in above for child in _step(node, path[-1]) for form in _forms(child))


def _step(node: Schema, step: Step) -> Iterator[Schema]:
    if isinstance(step, int):
        if "items" in node:
            yield node["items"]
        return
    if step in node.get("properties", {}):
        yield node["properties"][step]
    elif "patternProperties" in node:
        yield from node["patternProperties"].values()


def _follow(node: Schema) -> Schema:
    if "$ref" not in node:
        return node
    target = _root()["$defs"][node["$ref"].rpartition("/")[2]]
    return {**target, **{key: value for key, value in node.items() if key != "$ref"}}


def _forms(node: Schema) -> Iterator[Schema]:
    node = _follow(node)
    forms = node.get("anyOf") or node.get("oneOf")
    if not forms:
        yield node
        return
    for form in forms:
        if form.get("type") != "null":
            yield from _forms(form)


def _words(node: Schema) -> str:
    if "patternErrorMessage" in node:
        return str(node["patternErrorMessage"])
    forms = [form for form in node.get("anyOf", ()) if form.get("type") != "null"]
    if forms:
        return " or ".join(_words(_follow(form)) for form in forms)
    if "enum" in node or "const" in node:
        values = node.get("enum", [node.get("const")])
        return ("one of " if len(values) > 1 else "") + ", ".join(str(value) for value in values)
    return _SHAPES[node["type"]](node)


def _integer(node: Schema) -> str:
    return f"a whole number from {node['minimum']} to {node['maximum']}"


def _text(node: Schema) -> str:
    low, high = node.get("minLength", 0), node.get("maxLength")
    return f"text of {low} to {high} characters" if high else "text"


def _list(node: Schema) -> str:
    low, high = node.get("minItems", 0), node.get("maxItems")
    count = f" of {low} to {high} items" if high else (f" of at least {low}" if low else "")
    return f"a list{count}, each {_words(_follow(node['items']))}"


def _mapping(node: Schema) -> str:
    if "properties" in node:
        needed = node.get("required", ())
        others = [key for key in node["properties"] if key not in needed]
        more = f" (and at will {', '.join(others)})" if needed and others else ""
        return f"a mapping with the keys {', '.join(needed or others)}{more}"
    low, high = node.get("minProperties", 0), node.get("maxProperties")
    return f"a mapping of {low} to {high} names"


_SHAPES = {
    "integer": _integer,
    "boolean": lambda _: "true or false",
    "string": _text,
    "array": _list,
    "object": _mapping,
}
