"""The whole stack file as one value."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from nightshift.settings.group import Group
from nightshift.settings.site import Site
from nightshift.settings.storage import SnapshotPolicy, Volume
from nightshift.settings.types import Name, Section


class Stack(Section):
    """A site with its volumes, snapshot policies and groups. `name` and `region` come from Pulumi."""

    name: Name
    region: str
    site: Site
    volumes: Annotated[dict[Name, Volume], Field(default={}, max_length=100)]
    snapshots: Annotated[dict[Name, SnapshotPolicy], Field(default={}, max_length=50)]
    groups: Annotated[dict[Name, Group], Field(min_length=1, max_length=400)]
