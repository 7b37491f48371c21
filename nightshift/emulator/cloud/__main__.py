"""`python -m nightshift.emulator.cloud`: serve the emulated AWS on 127.0.0.1."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m nightshift.emulator.cloud", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; 0 takes a free one")
    parser.add_argument("--log", type=Path, help="append one JSON line per AWS request to this file")
    parser.add_argument("--image", action="append", default=[], help="further AMI id to know; repeatable")
    parser.add_argument("--quota", action="append", default=[], help="CODE=VCPUS, e.g. L-417A185B=96")
    parser.add_argument("--parent", type=int, help="end when the process of this pid ends")
    parser.add_argument("--plain", action="store_true", help="serve moto as it is, without any addition")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Serve until a signal. Exit code 2 for wrong use."""
    parser = _parser()
    options = parser.parse_args(argv)
    quotas: dict[str, float] = {}
    for text in options.quota:
        code, _, value = text.partition("=")
        try:
            quotas[code] = float(value)
        except ValueError:
            parser.error(f"--quota: given {text!r}, expected CODE=VCPUS such as L-417A185B=96")
    from nightshift.emulator.cloud.server import Options, serve

    serve(Options(options.port, options.log, tuple(options.image), quotas, options.parent, options.plain))
    return 0


if __name__ == "__main__":
    sys.exit(main())
