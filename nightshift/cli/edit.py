"""Changing one scalar of a stack file and nothing else: comments, order and quotes stay."""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from nightshift.cli.errors import CliError


def replace_scalar(text: str, path: Sequence[str], value: str) -> str:
    """`text` with the scalar at `path` set to `value`. Raises CliError where the path has no scalar."""
    node = _scalar(yaml.compose(text, Loader=yaml.SafeLoader), path)
    start, end = node.start_mark.index, node.end_mark.index
    quote = node.style if node.style in ("'", '"') else ""
    changed = f"{text[:start]}{quote}{value}{quote}{text[end:]}"
    again = _scalar(yaml.compose(changed, Loader=yaml.SafeLoader), path)
    if again.value != value:
        raise CliError(f"{'.'.join(path)} can't be edited safely: write {value} by hand")
    return changed


def line_of(text: str, path: Sequence[str]) -> int:
    """The line of the scalar at `path`, from 1."""
    return int(_scalar(yaml.compose(text, Loader=yaml.SafeLoader), path).start_mark.line) + 1


def _scalar(node: yaml.Node | None, path: Sequence[str]) -> yaml.ScalarNode:
    for key in path:
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        node = next((value for name, value in pairs if name.value == key), None)
    if not isinstance(node, yaml.ScalarNode):
        raise CliError(f"{'.'.join(path)} isn't a plain value in the stack file: edit it by hand")
    return node
