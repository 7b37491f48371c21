"""The instance metadata service, version 2 only, as an interface of plain text answers."""

from __future__ import annotations

from dataclasses import dataclass

from bootstrap.start.fetch import imds


@dataclass(frozen=True)
class Instance:
    """Which instance this is."""

    id: str
    type: str
    zone: str


def read_instance() -> Instance:
    """Ask who we are. Raises OSError when the service doesn't answer."""
    return Instance(imds("instance-id"), imds("instance-type"), imds("placement/availability-zone"))
