"""The node an agent runs on: who it is, its edges, its notices, and how it speaks."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from bootstrap.aws import NodeAws
from bootstrap.imds import Instance
from bootstrap.lifecycle.notice import Inbox
from bootstrap.start.config import NodeConfig
from bootstrap.start.edges import NodeEdges
from bootstrap.storage.waiting import Clock

_SPEAKS = threading.Lock()


def say(text: str) -> None:
    """One whole line to the journal, from any thread."""
    with _SPEAKS:
        print(f"nightshift: {text}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Node:
    """One node, one boot."""

    config: NodeConfig
    instance: Instance
    aws: NodeAws
    edges: NodeEdges
    inbox: Inbox = field(default_factory=lambda: Inbox(say))
    say: Callable[[str], None] = say
    clock: Clock = field(default_factory=Clock)
