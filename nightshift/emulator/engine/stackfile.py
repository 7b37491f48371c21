"""A copy of the user's stack file that can do no harm: word for word, without the ways to a real account."""

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from nightshift.emulator.engine.errors import WorkspaceError

_NAME = re.compile(r"Pulumi\.(?P<stack>[^/]+)\.ya?ml")
_SECRET_KEYS = frozenset({"encryptionsalt", "encryptedkey", "secretsprovider"})
REAL_ACCOUNT_KEYS = frozenset(
    f"aws:{name}"
    for name in (
        "accessKey",
        "allowedAccountIds",
        "assumeRole",
        "assumeRoles",
        "assumeRoleWithWebIdentity",
        "customCaBundle",
        "ec2MetadataServiceEndpoint",
        "ec2MetadataServiceEndpointMode",
        "endpoints",
        "forbiddenAccountIds",
        "httpProxy",
        "httpsProxy",
        "profile",
        "secretKey",
        "sharedConfigFiles",
        "sharedCredentialsFiles",
        "stsRegion",
        "token",
        "useDualstackEndpoint",
        "useFipsEndpoint",
    )
)


def stack_name(stack_file: Path) -> str:
    """The stack that `Pulumi.<stack>.yaml` configures. Raises WorkspaceError for another name."""
    match = _NAME.fullmatch(stack_file.name)
    if match is None:
        raise WorkspaceError(f"{stack_file}: a stack file is named Pulumi.<stack>.yaml")
    return match["stack"]


def harmless(text: str) -> str:
    """The stack file without credentials, profiles, endpoints and keys to secrets; all else as it was.

    A text that is no YAML comes back unchanged: the engine says what is wrong with it in its own words.
    Raises WorkspaceError when such a setting stands in a `{...}` on one line and cannot be taken out by line.
    """
    lines = text.splitlines(keepends=True)
    dropped = {number for first, last in _dropped(text) for number in range(first, last)}
    return "".join(line for number, line in enumerate(lines) if number not in dropped)


def _dropped(text: str) -> Iterator[tuple[int, int]]:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return
    if not isinstance(root, yaml.MappingNode):
        return
    for key, value in root.value:
        if key.value in _SECRET_KEYS:
            yield _lines(root, key, value)
        elif key.value == "config" and isinstance(value, yaml.MappingNode):
            for inner, setting in value.value:
                if inner.value in REAL_ACCOUNT_KEYS:
                    yield _lines(value, inner, setting)


def _lines(parent: yaml.MappingNode, key: yaml.Node, value: yaml.Node) -> tuple[int, int]:
    first = key.start_mark.line
    if parent.flow_style:
        raise WorkspaceError(
            f"line {first + 1}: {key.value} must stand on its own line, so that the emulator can leave it out"
        )
    return first, _end(value)


def _end(node: yaml.Node) -> int:
    """The line after the node's last one. A block's own end mark lies behind the comments that follow it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    mark = node.end_mark
    return mark.line if mark.column == 0 and mark.line > node.start_mark.line else mark.line + 1
