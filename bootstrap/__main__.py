"""`python -m bootstrap`: `install` once, from user data; `start` on every boot, from systemd.

`verify` proves a machine by hand and changes nothing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from bootstrap.start.config import NodeConfigError, read_config
from bootstrap.start.install import GIVEN_UP, UNITS_FOLDER, install

FOLDER = Path(__file__).resolve().parents[1]
FAILED = 1
_NODE = "JSON file that user data left"


def main(arguments: list[str] | None = None) -> int:
    """Exit codes: 0 done, 1 failed and worth another try, GIVEN_UP when this node was given back."""
    parser = argparse.ArgumentParser(prog="bootstrap", description="The Nightshift node agent.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, what in (("install", "write and start the unit"), ("start", "one boot")):
        verbs.add_parser(verb, help=what).add_argument("--node", type=Path, required=True, help=_NODE)
    _add_verify(verbs.add_parser("verify", help="check this machine and print what was found"))
    verbs.add_parser("runtime", help="build a runtime, or verify the one that stands", add_help=False)
    given, rest = parser.parse_known_args(arguments)
    if given.verb == "runtime":
        return _runtime(rest)
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    acts = {"verify": _verify, "install": _install, "start": _start}
    return acts[given.verb](given)


def _add_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--node", type=Path, help=f"{_NODE}: check as a node of its group")
    parser.add_argument("--python", default=sys.executable, help="the Python that has torch")
    parser.add_argument("--runtime", help="the preset that it should be")


def _verify(given: argparse.Namespace) -> int:
    from bootstrap.readiness.verify import MISUSED, Request, verify

    try:
        code = verify(Request(given.json, given.node, given.python, given.runtime))
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _failed(OSError(f"the findings can't be written: {error.strerror}"), MISUSED)
    return code


def _runtime(rest: list[str]) -> int:
    """Its room needs botocore, which the other verbs do without."""
    from bootstrap.aws_session import AwsError, plain_client
    from bootstrap.runtime import command
    from bootstrap.runtime.store import S3Store

    parser = argparse.ArgumentParser(prog="bootstrap")
    command.add_parser(parser.add_subparsers(required=True))
    given = parser.parse_args(["runtime", *rest])

    def store(bucket: str) -> S3Store:
        try:
            return S3Store(plain_client("s3"), bucket)
        except (ValueError, *AwsError) as error:
            raise OSError(f"--bucket {bucket}: {error}") from None

    return command.main(given, store)


def _install(given: argparse.Namespace) -> int:
    try:
        read_config(given.node)
        units = Path(os.environ.get("NIGHTSHIFT_UNITS", UNITS_FOLDER))
        install(sys.executable, FOLDER, given.node, units)
    except (NodeConfigError, OSError, subprocess.CalledProcessError) as error:
        return _failed(error, FAILED)
    return 0


def _start(given: argparse.Namespace) -> int:
    """boto3 is imported by what is called here: `install` needs none and must not fail for it."""
    from bootstrap.lifecycle.aws_clock import since_boot
    from bootstrap.start.edges import node_edges
    from bootstrap.start.helpless import helpless

    began = since_boot()
    try:
        memory = node_edges().run_dir / "troubled-since"
    except ValueError as error:
        return _failed(error, GIVEN_UP)
    code = _boot(given)
    if code == FAILED and helpless(memory, began, since_boot()):
        return _failed(RuntimeError("no start of the agent has come to anything for half an hour"), GIVEN_UP)
    return code


def _boot(given: argparse.Namespace) -> int:
    from bootstrap.aws import AwsError, NodeAws
    from bootstrap.imds import read_instance
    from bootstrap.start.agent import Agent
    from bootstrap.start.edges import node_edges
    from bootstrap.start.node import Node
    from bootstrap.start.wiring import NodeRooms

    try:
        config, edges, instance = read_config(given.node), node_edges(), read_instance()
        here = Node(config, instance, NodeAws(config, instance.id), edges)
        return Agent(here, lambda manifest: NodeRooms(here, manifest)).run()
    except (NodeConfigError, ValueError) as error:
        return _failed(error, GIVEN_UP)
    except (OSError, *AwsError) as error:
        return _failed(error, FAILED)


def _failed(error: Exception, code: int) -> int:
    print(f"nightshift: {error}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
