"""The vocabulary of the stack file: named types that several models share.

Errors are put into words from the JSON schema, so what completes "expected ..." stands in it as
`patternErrorMessage`, where editors show it too.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError


def expected(words: str) -> FieldInfo:
    """Completes "expected ..." for a type with a pattern."""
    return Field(json_schema_extra={"patternErrorMessage": words})


def _no_switch(value: object) -> object:
    """Python's True equals 1, and so would pass for it in a list of numbers."""
    if isinstance(value, bool):
        raise PydanticCustomError("switch", "not a number")
    return value


NUMBER = BeforeValidator(_no_switch)
"""Beside a literal of numbers."""
Name = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z](?:[a-z0-9-]{0,18}[a-z0-9])?$"),
    expected("a name of 1 to 20 of a-z, 0-9 and dashes, from a letter, not ending in a dash"),
]
"""A group, volume or policy name: 1-20 of a-z, 0-9, dash; keys of maps, so renaming means another thing."""
ClockTime = Annotated[
    str,
    StringConstraints(pattern=r"^(?:[01][0-9]|2[0-3]):[0-5][0-9]$"),
    expected('HH:MM such as "07:00"'),
]
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
ImageId = Annotated[
    str,
    StringConstraints(pattern=r"^ami-(?:[0-9a-f]{8}|[0-9a-f]{17})$"),
    expected("an AMI id such as ami-0abc0000000000001; `nightshift pin` proposes one"),
]
VolumeId = Annotated[
    str,
    StringConstraints(pattern=r"^vol-(?:[0-9a-f]{8}|[0-9a-f]{17})$"),
    expected("a volume id such as vol-0abc0000000000001"),
]
SnapshotId = Annotated[
    str,
    StringConstraints(pattern=r"^snap-(?:[0-9a-f]{8}|[0-9a-f]{17})$"),
    expected("a snapshot id such as snap-0abc0000000000001"),
]
VpcId = Annotated[
    str,
    StringConstraints(pattern=r"^vpc-(?:[0-9a-f]{8}|[0-9a-f]{17})$"),
    expected("a VPC id such as vpc-0abc0000000000001"),
]
SubnetId = Annotated[
    str,
    StringConstraints(pattern=r"^subnet-(?:[0-9a-f]{8}|[0-9a-f]{17})$"),
    expected("a subnet id such as subnet-0abc0000000000001"),
]
ReservationId = Annotated[
    str,
    StringConstraints(pattern=r"^cr-(?:[0-9a-f]{8}|[0-9a-f]{17})$"),
    expected("a capacity reservation id such as cr-0abc0000000000001"),
]
Email = Annotated[
    str,
    StringConstraints(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s.]+$", max_length=254),
    expected("a mail address such as lab@example.org"),
]
Duration = Annotated[
    str,
    StringConstraints(pattern=r"^[1-9][0-9]{0,4}[mh]$"),
    expected("minutes or hours such as 45m or 2h"),
]
"""Minutes or hours: `45m`, `2h`."""
UtcMinute = Annotated[
    str,
    StringConstraints(pattern=r"^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]Z$"),
    expected("a UTC time to the minute such as 2026-12-24T11:30Z"),
]


class Section(BaseModel):
    """One mapping of the stack file: strict types, frozen, no unknown keys."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )
