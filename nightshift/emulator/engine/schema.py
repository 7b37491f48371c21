"""The inputs that the bridge takes, as a snapshot in bridge_inputs.json, and the check against it.

The bridge ignores an input it does not know, and the SDK knows more than the older provider has: without this
check a field that the program sets would silently never reach the cloud. The snapshot is made by
`python -m nightshift.emulator.engine.snapshot`; a test compares it with the running bridge.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

from google.protobuf import struct_pb2

from nightshift.emulator.engine import shapes

Tree = str | list["Tree"] | dict[str, "Tree"]
"""One input: "" a plain value, "map" a map of them, [item] a list, {name: input} an object."""


@cache
def bridge_inputs() -> dict[str, dict[str, Tree]]:
    """The snapshot: Terraform's inputs, in the bridge's names, by the SDK's token."""
    text = files("nightshift.emulator.engine").joinpath("bridge_inputs.json").read_text(encoding="utf-8")
    return json.loads(text)


def compact(schema: Mapping, bridge_token: str) -> dict[str, Tree]:
    """The inputs of one resource of a Pulumi schema as a tree."""
    properties = schema["resources"][bridge_token]["inputProperties"]
    return {name: _tree(schema, spec) for name, spec in sorted(properties.items())}


def _tree(schema: Mapping, spec: Mapping) -> Tree:
    if "$ref" in spec:
        named = schema["types"].get(spec["$ref"].removeprefix("#/types/"))
        return {n: _tree(schema, s) for n, s in sorted(named["properties"].items())} if named else ""
    if spec.get("type") == "array":
        return [_tree(schema, spec["items"])]
    return "map" if spec.get("type") == "object" else ""


def unknown_inputs(token: str, inputs: struct_pb2.Struct) -> tuple[str, ...]:
    """The paths, in the SDK's names, of inputs that the bridge would ignore. Nulls pass."""
    tree = bridge_inputs().get(token)
    if tree is None:
        return ()
    return tuple(_unknown(inputs, tree, shapes.shape_of(token), ""))


def _unknown(
    given: struct_pb2.Struct, tree: dict[str, Tree], shape: shapes.Shape | None, at: str
) -> Iterator[str]:
    for name, value in sorted(given.fields.items()):
        if name.startswith("__") or value.WhichOneof("kind") == "null_value":
            continue
        below = shape.below.get(name) if shape else None
        known = tree.get(below.bridge_name if below else name)
        path = f"{at}.{name}" if at else name
        if known is None:
            yield path
        else:
            inner = known[0] if below and below.single and isinstance(known, list) else known
            yield from _mismatch(shapes.unwrap(value), inner, below, path)


def _mismatch(value: struct_pb2.Value, tree: Tree, shape: shapes.Shape | None, path: str) -> Iterator[str]:
    kind = value.WhichOneof("kind")
    if isinstance(tree, dict) and kind == "struct_value":
        yield from _unknown(value.struct_value, tree, shape, path)
    elif isinstance(tree, list) and kind == "list_value":
        for position, item in enumerate(value.list_value.values):
            yield from _mismatch(shapes.unwrap(item), tree[0], shape, f"{path}[{position}]")
