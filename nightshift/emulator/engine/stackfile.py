"""A copy of the user's stack file that can do no harm: its values, without the ways to a real account."""

import re
from collections.abc import Mapping
from pathlib import Path

import yaml

from nightshift.emulator.engine.errors import WorkspaceError
from nightshift.settings.document import NAMESPACE, config_of
from nightshift.settings.yamltext import YamlError, load

_NAME = re.compile(r"Pulumi\.(?P<stack>[^/]+)\.ya?ml")
_OF_PROVIDERS = ("aws", "aws-native", "awsx", "pulumi")
"""Namespaces that a provider or the engine itself obeys; the program's own reach no account."""
KEPT = frozenset(
    f"aws:{name}"
    for name in (
        "defaultTags",
        "ignoreTags",
        "maxRetries",
        "region",
        "retryMode",
        "s3UsEast1RegionalEndpoint",
        "s3UsePathStyle",
        "skipCredentialsValidation",
        "skipMetadataApiCheck",
        "skipRegionValidation",
        "skipRequestingAccountId",
        "tokenBucketRateLimiterCapacity",
    )
)
"""All that is kept of those namespaces: what chooses neither account nor address."""


class _Quoting(yaml.SafeDumper):
    """Every text in double quotes and in ASCII: no reader takes it for a number, a switch or a date."""

    def ignore_aliases(self, data: object) -> bool:
        """No anchors are written."""
        return True


def _quoted(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style='"')


_Quoting.add_representer(str, _quoted)
_Quoting.add_multi_representer(str, _quoted)


def stack_name(stack_file: Path) -> str:
    """The stack that `Pulumi.<stack>.yaml` configures. Raises WorkspaceError for another name."""
    match = _NAME.fullmatch(stack_file.name)
    if match is None:
        raise WorkspaceError(f"{stack_file}: a stack file is named Pulumi.<stack>.yaml")
    return match["stack"]


def harmless(data: bytes) -> str:
    """A stack file with the config that `nightshift check` reads in `data`, and nothing of it that leads out.

    Of what stands beside config:, of the provider's settings outside KEPT and of values encrypted for other
    programs nothing is written. Raises WorkspaceError for what cannot be read, and for encrypted values of
    our own: the emulator has no key to them.
    """
    try:
        config, encrypted = config_of(load(data))
    except YamlError as error:
        raise WorkspaceError(str(error)) from None
    ours = sorted(key for key in encrypted if key.startswith(f"{NAMESPACE}:") or key in KEPT)
    if ours:
        raise WorkspaceError(
            f"{', '.join(ours)}: holds an encrypted value (secure:), to which the emulator has no key; "
            "write it in plain text"
        )
    return _written({key: value for key, value in config.items() if key not in encrypted and _stays(key)})


def refuse_leading_out(config: object, where: Path) -> None:
    """The config of a Pulumi.yaml holds for every stack of it. Raises WorkspaceError for what leads out."""
    if not isinstance(config, Mapping):
        return
    out = sorted(str(key) for key in config if not _stays(str(key).replace(":config:", ":")))
    if out:
        raise WorkspaceError(
            f"{where}: config: has {', '.join(out)}, which can lead to a real account; "
            "write it in the stack file, where the emulator leaves it out"
        )


def _stays(key: str) -> bool:
    return key in KEPT or key.partition(":")[0] not in _OF_PROVIDERS


def _written(config: Mapping[str, object]) -> str:
    return yaml.dump(
        {"config": dict(config)}, Dumper=_Quoting, sort_keys=False, width=1_000_000, default_flow_style=False
    )
