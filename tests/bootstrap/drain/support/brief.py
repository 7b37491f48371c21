"""The node's own entry, with the readiness checks cut down to volumes: a drain has nothing to do with the
others, and each boot would spend half a minute of CPU on them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from bootstrap.aws import NodeAws
from bootstrap.imds import read_instance
from bootstrap.readiness.order import STORAGE
from bootstrap.start.agent import Agent
from bootstrap.start.config import read_config
from bootstrap.start.edges import node_edges
from bootstrap.start.node import Node
from bootstrap.start.rooms import Heartbeat, NamedCheck
from bootstrap.start.wiring import NodeRooms


class BriefRooms(NodeRooms):
    """The real rooms; of the checks only the volumes."""

    def checks(self, python: Path, heartbeat: Heartbeat) -> Sequence[NamedCheck]:
        """The volumes' check."""
        return [check for check in super().checks(python, heartbeat) if check.name == STORAGE]


def main() -> int:
    """As `python -m bootstrap start`."""
    config, instance = read_config(Path(sys.argv[1])), read_instance()
    here = Node(config, instance, NodeAws(config, instance.id), node_edges())
    return Agent(here, lambda manifest: BriefRooms(here, manifest)).run()


if __name__ == "__main__":
    sys.exit(main())
