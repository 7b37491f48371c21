"""Changing one scalar of a stack file and nothing else: comments, order, quotes and line ends stay."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

import yaml

from nightshift.cli.errors import CliError
from nightshift.settings.yamltext import YamlError, load

_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def replace_scalar(data: bytes, path: Sequence[str], value: str) -> bytes:
    """The file's bytes with the scalar at `path` set to `value`, in the coding that it has.

    Raises CliError where the path has no scalar, and where another value would change with it.
    """
    coding, text = _decoded(data)
    token = _token(text, path)
    quote = token.style if token.style in ("'", '"') else ""
    start, end = token.start_mark.index, token.end_mark.index
    changed = f"{text[:start]}{quote}{value}{quote}{text[end:]}".encode(coding)
    if not _differ_there_alone(data, changed, path, value):
        raise CliError(f"{'.'.join(path)} can't be edited safely: write {value} by hand")
    return changed


def line_of(data: bytes, path: Sequence[str]) -> int:
    """The line of the scalar at `path`, from 1. Raises CliError where the path has none."""
    return int(_token(_decoded(data)[1], path).start_mark.line) + 1


def _decoded(data: bytes) -> tuple[str, str]:
    """The coding by the mark at the beginning, which stays in the text, as YAML allows both."""
    coding = _MARKS.get(data[:2], "utf-8")
    try:
        return coding, data.decode(coding)
    except UnicodeDecodeError as error:
        raise CliError(f"the stack file is no {coding.upper()} text: save it as UTF-8") from error


def _token(text: str, path: Sequence[str]) -> yaml.ScalarToken:
    """The scalar without the anchor and the tag before it, which belong to its node."""
    try:
        end = _scalar(_first_document(text), path).end_mark.index
        for token in yaml.scan(text, Loader=yaml.SafeLoader):
            if isinstance(token, yaml.ScalarToken) and token.end_mark.index == end:
                return token
    except yaml.YAMLError as error:
        raise _by_hand(path) from error
    raise _by_hand(path)


def _first_document(text: str) -> yaml.Node | None:
    loader = yaml.SafeLoader(text)
    try:
        return loader.get_node() if loader.check_node() else None
    finally:
        loader.dispose()


def _scalar(node: yaml.Node | None, path: Sequence[str]) -> yaml.ScalarNode:
    for key in path:
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        node = next((value for name, value in pairs if name.value == key), None)
    if not isinstance(node, yaml.ScalarNode):
        raise _by_hand(path)
    return node


def _by_hand(path: Sequence[str]) -> CliError:
    return CliError(f"{'.'.join(path)} isn't a plain value in the stack file: edit it by hand")


def _differ_there_alone(before: bytes, after: bytes, path: Sequence[str], value: str) -> bool:
    """Whether the file's values are the same before and after, but for `value` at `path`."""
    try:
        wanted, found = load(before), load(after)
    except YamlError:
        return False
    inner = wanted
    for key in path[:-1]:
        inner = inner.get(key) if isinstance(inner, dict) else None
    if not isinstance(inner, dict):
        return False
    inner[path[-1]] = value
    return wanted == found
