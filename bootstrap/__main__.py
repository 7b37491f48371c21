"""`python -m bootstrap`: `install` once, from user data; `start` on every boot, from systemd."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from bootstrap.start.config import NodeConfigError, read_config
from bootstrap.start.install import GIVEN_UP, UNITS_FOLDER, install

FOLDER = Path(__file__).resolve().parents[1]


def main(arguments: list[str] | None = None) -> int:
    """Exit codes: 0 done, 1 failed and worth another try, GIVEN_UP when the launch was abandoned."""
    parser = argparse.ArgumentParser(prog="bootstrap", description="The Nightshift node agent.")
    parser.add_argument("verb", choices=("install", "start"))
    parser.add_argument("--node", type=Path, required=True, help="JSON file that user data left")
    given = parser.parse_args(arguments)
    return _install(given.node) if given.verb == "install" else _start(given.node)


def _install(node: Path) -> int:
    try:
        read_config(node)
        units = Path(os.environ.get("NIGHTSHIFT_UNITS", UNITS_FOLDER))
        install(sys.executable, FOLDER, node, units)
    except (NodeConfigError, OSError, subprocess.CalledProcessError) as error:
        return _failed(error, 1)
    return 0


def _start(node: Path) -> int:
    """boto3 is imported here, not above: `install` needs none and must not fail for it."""
    from bootstrap.aws import AwsError, NodeAws
    from bootstrap.imds import read_instance
    from bootstrap.start.agent import boot

    try:
        config, instance = read_config(node), read_instance()
        return boot(config, instance, NodeAws(config, instance.id))
    except NodeConfigError as error:
        return _failed(error, GIVEN_UP)
    except (OSError, *AwsError) as error:
        return _failed(error, 1)


def _failed(error: Exception, code: int) -> int:
    print(f"nightshift: {error}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
