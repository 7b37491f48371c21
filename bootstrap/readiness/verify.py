"""`python -m bootstrap verify`: proves this machine by itself, with or without AWS, and changes nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bootstrap.imds import Instance, read_instance
from bootstrap.manifest import BootManifest, ManifestError, from_json
from bootstrap.readiness.commands import Shell
from bootstrap.readiness.order import Look, examine
from bootstrap.readiness.report import as_json, table
from bootstrap.readiness.situation import Situation
from bootstrap.readiness.verdict import judge
from bootstrap.start.config import NodeConfigError, read_config
from nightshift.catalog.runtimes import RUNTIMES
from nightshift.catalog.suggest import unknown

READY, NOT_READY, MISUSED = 0, 1, 2


@dataclass(frozen=True)
class Request:
    """What the command line asks. `node` is the file that user data left, None for a machine by itself."""

    json: bool = False
    node: Path | None = None
    python: str = sys.executable
    runtime: str | None = None


class Refused(Exception):
    """It can't even begin; the message says why."""


def verify(request: Request, storage: Look | None = None) -> int:
    """Print the findings. Exit code 0 when ready, 1 when not, 2 when what was asked makes no sense."""
    if request.runtime is not None and request.runtime not in RUNTIMES:
        print(f"nightshift: {unknown('runtime', request.runtime, RUNTIMES, 'the catalog')}", file=sys.stderr)
        return MISUSED
    try:
        situation = _situation(request)
    except Refused as error:
        print(f"nightshift: {error}", file=sys.stderr)
        return NOT_READY
    return present(situation, request.json, storage)


def present(
    situation: Situation, as_data: bool, storage: Look | None, say: Callable[[str], None] = print
) -> int:
    """Examine and print; the exit code."""
    findings = examine(situation, storage)
    if situation.manifest is not None:
        findings = findings[:-1]
    verdict = judge(findings)
    say((as_json if as_data else table)(findings, verdict, situation).rstrip("\n"))
    return READY if verdict.ready else NOT_READY


def _situation(request: Request) -> Situation:
    instance = _instance()
    manifest = _manifest(request.node, instance) if request.node else None
    return Situation(
        manifest=manifest,
        instance=instance,
        commands=Shell(),
        python=request.python,
        runtime=request.runtime,
    )


def _instance() -> Instance | None:
    """None where no metadata service answers, or something else does."""
    try:
        return read_instance()
    except (OSError, ValueError):
        return None


def _manifest(node: Path, instance: Instance | None) -> BootManifest:
    """boto3 is imported only here: a machine by itself has none. Raises Refused."""
    from bootstrap.aws import AwsError, NodeAws

    try:
        config = read_config(node)
        return from_json(NodeAws(config, instance.id if instance else "").read_manifest())
    except OSError as error:
        raise Refused(
            f"--node {node}: {error.strerror or error}; give the file that user data left"
        ) from None
    except (NodeConfigError, ManifestError, ValueError, *AwsError) as error:
        raise Refused(" ".join(str(error).split())) from None
