"""`systemctl` of a node: asks pid 1, and waits where the real one would. `poweroff` is a link to it."""

from __future__ import annotations

import json
import socket
import sys
import time

SOCKET = "/run/systemd/nightshift"
_LOOK_S = 0.05


def ask(question: dict[str, object]) -> dict[str, object]:
    """Pid 1's answer. Raises OSError when it has none."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(SOCKET)
        line.sendall(json.dumps(question).encode() + b"\n")
        with line.makefile("rb") as answer:
            return json.loads(answer.readline())


def main(words: list[str]) -> int:
    """The exit code, as the real one's."""
    try:
        told = ask({"words": words})
        sys.stdout.write(str(told["out"]))
        sys.stderr.write(str(told["err"]))
        while "--no-block" not in words and not ask({"settled": words})["settled"]:
            time.sleep(_LOOK_S)
    except (OSError, ValueError) as error:
        print(f"Failed to connect to bus: {error}", file=sys.stderr)
        return 1
    return int(str(told["rc"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
