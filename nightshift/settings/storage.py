"""`nightshift:volumes` and `nightshift:snapshots`: the data that outlives nodes and groups."""

from typing import Annotated, Literal

from pydantic import Field

from nightshift.settings.types import NUMBER, ClockTime, Name, Section, SnapshotId, VolumeId


class Volume(Section):
    """A persistent EBS volume with a name; one writer at a time."""

    size_gib: Annotated[
        int, Field(ge=1, le=65_536, description="GiB. Change: in place, larger only; smaller is refused.")
    ]
    type: Annotated[Literal["gp3", "io2"], Field(default="gp3", description="EBS type. Change: in place.")]
    iops: Annotated[
        int | None,
        Field(default=None, ge=100, le=256_000, description="IOPS; io2 needs it. Change: in place."),
    ]
    throughput: Annotated[
        int | None, Field(default=None, ge=125, le=2_000, description="MiB/s, gp3 only. Change: in place.")
    ]
    filesystem: Annotated[
        Literal["xfs", "ext4"],
        Field(
            default="xfs",
            description="Made once on a blank volume. Change: in place, without effect once made.",
        ),
    ]
    snapshots: Annotated[
        Name | None, Field(default=None, description="A snapshot policy's name. Change: in place.")
    ]
    per: Annotated[
        Literal["site", "node"],
        Field(
            default="site",
            description="`node`: one for each node of its group. Change: refused while the volume lives.",
        ),
    ]
    adopt: Annotated[
        VolumeId | None,
        Field(default=None, description="Take over this live volume. Change: refused once taken."),
    ]
    source: Annotated[
        SnapshotId | None,
        Field(
            default=None,
            alias="from",
            description="Snapshot to make it from. Change: in place, without effect once made.",
        ),
    ]


class SnapshotPolicy(Section):
    """A Data Lifecycle Manager policy. It works in UTC and starts within the hour after `at_utc`."""

    at_utc: Annotated[ClockTime, Field(description="First start of the day, UTC. Change: in place.")]
    every_hours: Annotated[
        Literal[1, 2, 3, 4, 6, 8, 12, 24],
        NUMBER,
        Field(default=24, description="Hours between snapshots. Change: in place."),
    ]
    keep: Annotated[
        int,
        Field(ge=1, le=1_000, description="How many to keep. Change: in place, fewer deletes the oldest."),
    ]
