"""What a node is told at launch: where its manifest and its agent lie, and which hook waits for it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from bootstrap.decode import Problems, decode

FETCH_DEADLINE_S = 300


class NodeConfigError(ValueError):
    """The file that user data left isn't what this agent reads."""


@dataclass(frozen=True)
class NodeConfig:
    """`bucket` holds artifacts and manifests, `data_bucket` records; `suffix` is the partition's DNS suffix.

    `endpoint` is empty on AWS, and the emulated one in a rehearsal. Nothing here changes with a shift edit.
    """

    site: str
    group: str
    group_name: str
    region: str
    suffix: str
    bucket: str
    data_bucket: str
    manifest_key: str
    artifact_key: str
    artifact_sha256: str
    hook: str
    endpoint: str = ""
    deadline_s: int = FETCH_DEADLINE_S


def read_config(path: Path) -> NodeConfig:
    """Read it back. Raises NodeConfigError with all problems, OSError if it isn't there."""
    problems: Problems = []
    try:
        config = decode(NodeConfig, json.loads(path.read_text(encoding="utf-8")), "", problems)
    except (ValueError, RecursionError) as error:
        raise NodeConfigError(f"{path}: not JSON: {error}") from None
    if problems or not isinstance(config, NodeConfig):
        raise NodeConfigError(f"{path}: " + "; ".join(problems))
    return config
