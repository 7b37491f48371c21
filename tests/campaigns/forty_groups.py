"""Bring a stack with many groups up on the real engine: `python -m tests.campaigns.forty_groups [COUNT]`.

Prints seconds as JSON; fails when a second up or a refresh changes anything.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from nightshift.emulator.cloud.process import start_cloud
from nightshift.emulator.engine.toolchain import ensure_toolchain
from tests.engine.support.groups import brought_up
from tests.engine.support.site import Deployed, Project


def main(count: int) -> None:
    """One stack of `count` groups."""
    toolchain = ensure_toolchain(lambda line: print(line, file=sys.stderr))
    with tempfile.TemporaryDirectory() as folder, start_cloud() as cloud:
        project = Project.copy_of(Path(folder), "rehearsal", "rehearsal")
        with Deployed(toolchain, cloud, project) as site:
            seconds = brought_up(site, count)
            seconds["destroy"] = site.destroy().seconds
    print(json.dumps({"groups": count, **{step: round(taken, 1) for step, taken in seconds.items()}}))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
