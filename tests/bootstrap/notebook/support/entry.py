"""The node's own entry, with the readiness checks cut down to volumes and logins: people meet no others."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from bootstrap.aws import NodeAws
from bootstrap.imds import read_instance
from bootstrap.notebook import restarts
from bootstrap.readiness.order import STORAGE
from bootstrap.start import stay
from bootstrap.start.agent import Agent
from bootstrap.start.config import read_config
from bootstrap.start.edges import node_edges
from bootstrap.start.node import Node
from bootstrap.start.people import USERS
from bootstrap.start.rooms import Heartbeat, NamedCheck
from bootstrap.start.wiring import NodeRooms


class PeoplesRooms(NodeRooms):
    """The real rooms; of the checks only those that people meet."""

    def checks(self, python: Path, heartbeat: Heartbeat) -> Sequence[NamedCheck]:
        """Volumes, then logins."""
        return [check for check in super().checks(python, heartbeat) if check.name in (STORAGE, USERS)]


def main() -> int:
    """As `python -m bootstrap start`; operators hear of notebooks sooner, ones that ended start sooner."""
    stay.LOOK_S, stay.KEEP_S = 0.1, 0.3
    restarts.FIRST_PAUSE_S = restarts.LONGEST_PAUSE_S = 0.1
    config, instance = read_config(Path(sys.argv[1])), read_instance()
    here = Node(config, instance, NodeAws(config, instance.id), node_edges())
    return Agent(here, lambda manifest: PeoplesRooms(here, manifest)).run()


if __name__ == "__main__":
    sys.exit(main())
