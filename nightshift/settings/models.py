"""The whole stack file as one value."""

from typing import Annotated

from pydantic import Field, StringConstraints

from nightshift.settings.group import Group
from nightshift.settings.site import Site
from nightshift.settings.storage import SnapshotPolicy, Volume
from nightshift.settings.types import Name, Section, expected


class Stack(Section):
    """A site with its volumes, snapshot policies and groups. `name` and `region` come from Pulumi."""

    name: Annotated[
        Name,
        Field(description="The Pulumi stack's name, in every tag and name. Change: refused, another site."),
    ]
    region: Annotated[
        str,
        StringConstraints(pattern=r"^[a-z]{2}(?:-[a-z]+)+-[0-9]$"),
        expected("a region such as us-east-1"),
        Field(description="aws:region. Change: refused while the stack stands."),
    ]
    site: Annotated[Site, Field(description="Region, zone, owner, image, budget. Change: in place.")]
    volumes: Annotated[
        dict[Name, Volume],
        Field(
            default={},
            max_length=100,
            description="Disks that outlive nodes. Change: in place; removal refused while it lives.",
        ),
    ]
    snapshots: Annotated[
        dict[Name, SnapshotPolicy],
        Field(default={}, max_length=50, description="Snapshot policies by name. Change: in place."),
    ]
    groups: Annotated[
        dict[Name, Group],
        Field(
            min_length=1,
            max_length=400,
            description="GPU groups by name. Change: in place; removal refused while its nodes run.",
        ),
    ]
