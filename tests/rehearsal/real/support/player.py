"""`python -m tests.rehearsal.real.support.player FOLDER`: two nights on real nodes, ended from outside."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.rehearsal.real.support.ground import ground

if __name__ == "__main__":
    with ground(Path(sys.argv[1])) as site:
        site.play(days=2)
