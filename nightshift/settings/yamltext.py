"""A stack file's text as plain values, with the meaning that Pulumi gives it.

Pulumi parses with Go's yaml.v3, a port of libyaml; PyYAML's C parser is libyaml. What differs is kept here:
scalars, duplicate keys, merge keys, the first document only, keys that are not text.
"""

from __future__ import annotations

import base64
import binascii
import math
from typing import Final

import yaml

from nightshift.settings import scalars

_LONG: Final = "tag:yaml.org,2002:"
_PLAIN: Final = "plain"
_MERGE: Final = "merge"
_MAX_DEPTH: Final = 50
"""Mappings and lists inside one another; a stack has seven."""
_TOO_DEEP: Final = "it nests deeper than any stack does; close a bracket or write the values out"
_MAX_NODES: Final = 100_000
"""Nodes after all aliases are followed; a stack of 400 groups has some 20 000."""


NULL_KEY: Final = "<nil>"
"""How Go prints a key that is null."""


class OddKey(str):
    """A key that is no text in the file (`1:`, `true:`), spelt as Pulumi does; refused outside of values."""

    __slots__ = ()


class YamlError(Exception):
    """The text is not YAML that Pulumi would accept; the message says where and what to do."""


class _Parser(yaml.CSafeLoader):
    """libyaml's events as nodes; plain scalars keep the tag `plain` until the Go rules decide."""

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: tuple[bool, bool]) -> str:
        if kind is yaml.ScalarNode:
            if not implicit[0]:
                return _LONG + "str"
            return _MERGE if value == "<<" else _PLAIN
        return _LONG + ("seq" if kind is yaml.SequenceNode else "map")


def load(data: bytes) -> object:
    """The first document of `data`; None if there is none. Raises YamlError."""
    parser = _Parser(data.removeprefix(b"\xef\xbb\xbf"))
    try:
        node = parser.get_node() if parser.check_node() else None
    except yaml.MarkedYAMLError as error:
        raise YamlError(_say(error, data)) from None
    except RecursionError:
        raise YamlError(_TOO_DEEP) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise YamlError("holds characters that YAML does not allow; save the file as UTF-8 text") from None
    finally:
        parser.dispose()
    return None if node is None else _Builder().value(node)


def _say(error: yaml.MarkedYAMLError, data: bytes) -> str:
    mark = error.problem_mark or error.context_mark
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    problem = (error.problem or error.context or "this is not YAML").removeprefix("did not find ")
    if "cannot start any token" in problem and mark:
        return where + _stray(data.decode(errors="replace").splitlines()[mark.line][mark.column :])
    if "undefined alias" in problem:
        return f"{where}an alias whose anchor stands nowhere above it; write the value out"
    return f"{where}{problem}; mend the indentation, quotes or brackets there"


def _stray(rest: str) -> str:
    if rest.startswith("\t"):
        return "a tab; indent with spaces"
    return f"{rest[:1]} cannot begin a value; put the text in quotes"


class _Builder:
    """Nodes to values."""

    def __init__(self) -> None:
        self._open: set[int] = set()
        self._count = 0

    def value(self, node: yaml.Node) -> object:
        self._count += 1
        if self._count > _MAX_NODES:
            raise YamlError("its aliases unfold to too much; write the values out")
        if isinstance(node, yaml.ScalarNode):
            value = _scalar(node)
            if isinstance(value, float) and not math.isfinite(value):
                raise YamlError(
                    f"{_line(node)}: {node.value} is no number that a stack can hold; write another"
                )
            return value
        if id(node) in self._open:
            raise YamlError(f"{_line(node)}: an anchor holds itself; write the value out")
        if len(self._open) >= _MAX_DEPTH:
            raise YamlError(_TOO_DEEP)
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                return self._mapping(node)
            return [self.value(item) for item in node.value]
        finally:
            self._open.discard(id(node))

    def _mapping(self, node: yaml.MappingNode) -> dict[str, object]:
        result: dict[str, object] = {}
        merges: list[yaml.Node] = []
        _refuse_twice(node)
        for key, item in node.value:
            if key.tag == _MERGE:
                merges.append(item)
            else:
                result[_key(key)] = self.value(item)
        for merge in merges:
            for key, item in self._merged(merge).items():
                result.setdefault(key, item)
        return result

    def _merged(self, node: yaml.Node) -> dict[str, object]:
        parts = node.value if isinstance(node, yaml.SequenceNode) else [node]
        result: dict[str, object] = {}
        for part in parts:
            value = self.value(part) if isinstance(part, yaml.MappingNode) else None
            if not isinstance(value, dict):
                raise YamlError(f"{_line(part)}: << takes a mapping or a list of mappings")
            for key, item in value.items():
                result.setdefault(key, item)
        return result


def _refuse_twice(node: yaml.MappingNode) -> None:
    seen: dict[str, yaml.Node] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise YamlError(f"{_line(key)}: a key must be a word, not a list or a mapping")
        if key.value in seen:
            first = _line(seen[key.value])
            raise YamlError(f'{_line(key)}: "{key.value}" stands twice, first on {first}; keep one of them')
        seen[key.value] = key


def _line(node: yaml.Node) -> str:
    return f"line {node.start_mark.line + 1}"


def _key(node: yaml.ScalarNode) -> str:
    value = _scalar(node)
    if isinstance(value, str):
        return value
    if value is None:
        return OddKey(NULL_KEY)
    return OddKey(str(value).lower())


def _scalar(node: yaml.ScalarNode) -> object:
    tag, text = node.tag, node.value
    if tag == _PLAIN:
        return scalars.plain(text)
    if tag == _MERGE or not tag.startswith(_LONG):
        return text
    kind = tag.removeprefix(_LONG)
    if kind == "binary":
        return _binary(node)
    if kind in _CHECKS:
        value = scalars.plain(text)
        if not _CHECKS[kind](text, value):
            raise YamlError(f"{_line(node)}: `{text}` is no !!{kind}; leave the tag out or mend the value")
        return value
    return text


_CHECKS = {
    "bool": lambda text, value: isinstance(value, bool),
    "int": lambda text, value: isinstance(value, int) and scalars.integer(text.replace("_", "")) is not None,
    "float": lambda text, value: isinstance(value, int | float) and not isinstance(value, bool),
    "null": lambda text, value: value is None,
    "timestamp": lambda text, value: scalars.timestamp(text) is not None,
}


def _binary(node: yaml.ScalarNode) -> str:
    """Go's JSON puts U+FFFD for each byte that is no UTF-8."""
    try:
        data = base64.b64decode(node.value.translate({10: None, 13: None}), validate=True)
    except (binascii.Error, ValueError):
        raise YamlError(f"{_line(node)}: !!binary must be base64; write the text itself") from None
    text = data.decode(errors="surrogateescape")
    return "".join("\ufffd" if "\ud800" <= sign <= "\udfff" else sign for sign in text)
