"""Worlds of the shipped stacks: deployed by the real engine, read, kept beside this folder as JSON.

`python -m tests.rehearsal.support.record` writes them anew after the program has changed.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from nightshift.emulator.cloud.process import start_cloud
from nightshift.emulator.engine.toolchain import Toolchain, ensure_toolchain
from nightshift.rehearsal.clients import clients_of
from nightshift.rehearsal.world.model import World, from_json, to_json
from nightshift.rehearsal.world.read import read_world
from tests.engine.support.site import Deployed, Project

WORLDS = Path(__file__).parents[1] / "worlds"
SHIPPED = ("cluster", "lab", "rehearsal", "solo", "team")
_IDS = re.compile(r"\b(vol|policy|snap)-([0-9a-f]{8,17})\b|scalingPolicy:[0-9a-f-]+")


def steady(text: str) -> str:
    """The same text with the ids that AWS draws anew each time numbered in order of appearance."""
    seen: dict[str, str] = {}

    def named(hit: re.Match[str]) -> str:
        kind = hit[1] or "scalingPolicy:"
        number = f"{len(seen):017x}" if hit[1] else f"{len(seen):08x}"
        return seen.setdefault(hit[0], f"{kind}-{number}" if hit[1] else f"{kind}{number}")

    return _IDS.sub(named, text)


def deployed_world(toolchain: Toolchain, shipped: str) -> World:
    """Deploy one shipped stack to an emulated AWS of its own and read it."""
    with tempfile.TemporaryDirectory() as folder, start_cloud() as cloud:
        project = Project.copy_of(Path(folder), shipped, shipped)
        with Deployed(toolchain, cloud, project) as site:
            site.up()
            return read_world(clients_of(cloud.endpoint, site.region), site.name, site.region)


def recorded(shipped: str) -> World:
    """The kept world."""
    return from_json((WORLDS / f"{shipped}.json").read_text(encoding="utf-8"))


def main() -> None:
    """Record every shipped stack, or those that are named."""
    toolchain = ensure_toolchain(lambda line: print(line, file=sys.stderr))
    for shipped in sys.argv[1:] or SHIPPED:
        text = steady(to_json(deployed_world(toolchain, shipped)))
        (WORLDS / f"{shipped}.json").write_text(text, encoding="utf-8")
        print(f"{shipped}: {len(text)} characters")


if __name__ == "__main__":
    main()
