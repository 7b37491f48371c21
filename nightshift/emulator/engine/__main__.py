"""`python -m nightshift.emulator.engine [--json]`: make sure of the engine and say what it is."""

import argparse
import json
import sys

from nightshift.emulator.engine.errors import ToolchainError
from nightshift.emulator.engine.toolchain import ensure_toolchain


def main() -> int:
    """Exit 0 with the toolchain told, 1 when it cannot be had."""
    parser = argparse.ArgumentParser(
        prog="nightshift.emulator.engine", description="Make sure of the Pulumi engine."
    )
    parser.add_argument("--json", action="store_true", help="print the toolchain as one JSON object")
    options = parser.parse_args()
    try:
        toolchain = ensure_toolchain(lambda line: print(f"engine: {line}", file=sys.stderr, flush=True))
    except ToolchainError as error:
        print(f"engine: {error}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(toolchain.as_json(), indent=1))
    else:
        print(f"pulumi {toolchain.pulumi_version} ({toolchain.pulumi})")
        print(f"{toolchain.provider_name} {toolchain.provider_version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
