"""The people of a group: each name's number on every node, where homes lie, where notebooks listen.

Files on a volume belong to numbers, not to names, and outlive nodes: so a name alone decides its number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

UIDS = range(20_000, 60_000)
"""Above what images and administrators give out (from 1000 on), below what systemd keeps for itself (60001
and up), and within useradd's own range (UID_MAX is 60000). The group of a login has the same number."""
NOTEBOOK_USER = "notebook"
"""Whose notebook it is in a group that names no users."""
HOME_VOLUME = "home"
FIRST_PORT = 8888


def uid_of(name: str) -> int:
    """The number of a login, the same on every node and whoever else is named."""
    digest = hashlib.sha256(name.encode()).digest()
    return UIDS[int.from_bytes(digest[:8], "big") % len(UIDS)]


def home_volume(volumes: Iterable[str]) -> str | None:
    """Which of a group's volumes has the homes: `home`, else the first by name; None when it mounts none."""
    names = sorted(volumes)
    return HOME_VOLUME if HOME_VOLUME in names else next(iter(names), None)


def notebook_users(users: Sequence[str]) -> tuple[str, ...]:
    """Who has a notebook where the group declares it, in the order of their ports."""
    return tuple(sorted(users)) or (NOTEBOOK_USER,)


def notebook_port(users: Sequence[str], user: str) -> int:
    """Where that user's notebook listens. Raises ValueError for one who has none."""
    return FIRST_PORT + notebook_users(users).index(user)
