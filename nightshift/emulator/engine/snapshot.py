"""Renew bridge_inputs.json: `python -m nightshift.emulator.engine.snapshot BRIDGE PROVIDER`."""

import json
import sys
import tempfile
from pathlib import Path

from nightshift.emulator.engine import schema, tokens
from nightshift.emulator.engine.bridge import Bridge

TARGET = Path(__file__).with_name("bridge_inputs.json")


def live_inputs(bridge_binary: Path, provider: Path) -> dict[str, dict[str, schema.Tree]]:
    """The inputs of every resource in use as the bridge itself tells them."""
    with tempfile.TemporaryDirectory() as folder:
        bridge = Bridge(bridge_binary, provider, Path(folder), sys.stderr)
        try:
            whole = json.loads(bridge.schema())
        finally:
            bridge.stop()
    return {token: schema.compact(whole, tokens.bridge_token(token)) for token in tokens.RESOURCES}


def main() -> None:
    """Write the snapshot, one resource a line."""
    inputs = live_inputs(Path(sys.argv[1]), Path(sys.argv[2]))
    lines = ",\n".join(
        f"{json.dumps(token)}: {json.dumps(tree, separators=(',', ':'))}" for token, tree in inputs.items()
    )
    TARGET.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
