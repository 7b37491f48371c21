"""The vocabulary of the stack file: named types that several models share."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

Name = Annotated[str, StringConstraints(pattern=r"^[a-z](?:[a-z0-9-]{0,18}[a-z0-9])?$")]
"""A group, volume or policy name: 1-20 of a-z, 0-9, dash; keys of maps, so renaming means another thing."""
ClockTime = Annotated[str, StringConstraints(pattern=r"^(?:[01][0-9]|2[0-3]):[0-5][0-9]$")]
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
ImageId = Annotated[str, StringConstraints(pattern=r"^ami-(?:[0-9a-f]{8}|[0-9a-f]{17})$")]
VolumeId = Annotated[str, StringConstraints(pattern=r"^vol-(?:[0-9a-f]{8}|[0-9a-f]{17})$")]
SnapshotId = Annotated[str, StringConstraints(pattern=r"^snap-(?:[0-9a-f]{8}|[0-9a-f]{17})$")]
VpcId = Annotated[str, StringConstraints(pattern=r"^vpc-(?:[0-9a-f]{8}|[0-9a-f]{17})$")]
SubnetId = Annotated[str, StringConstraints(pattern=r"^subnet-(?:[0-9a-f]{8}|[0-9a-f]{17})$")]
ReservationId = Annotated[str, StringConstraints(pattern=r"^cr-(?:[0-9a-f]{8}|[0-9a-f]{17})$")]
Email = Annotated[str, StringConstraints(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s.]+$", max_length=254)]
Duration = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,4}[mh]$")]
"""Minutes or hours: `45m`, `2h`."""


class Section(BaseModel):
    """One mapping of the stack file: strict types, frozen, no unknown keys."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", hide_input_in_errors=True)
