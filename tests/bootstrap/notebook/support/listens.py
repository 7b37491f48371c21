"""Inside a node: a terminal that prints all that it hears within some seconds. `listens.py SECONDS`."""

from __future__ import annotations

import os
import pty
import select
import sys
import time


def main() -> None:
    """Says `ready` first."""
    ours, _theirs = pty.openpty()
    print("ready", flush=True)
    until = time.monotonic() + float(sys.argv[1])
    while (left := until - time.monotonic()) > 0:
        if select.select([ours], [], [], left)[0]:
            print(os.read(ours, 4096).decode(errors="replace"), flush=True)


if __name__ == "__main__":
    main()
