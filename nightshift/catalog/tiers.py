"""Tiers: a named choice of machine, as instance types in the order in which a group asks for them.

The types of one tier share the CPU architecture and the number of GPUs, so that one image, one runtime
and one launch line fit all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Tier:
    """A tier, what it's for, and its types, first choice first."""

    name: str
    what: str
    types: tuple[str, ...]


_ALL = (
    Tier(
        "small",
        "one 24 GB card: work by day, fine-tuning, a first try of a training script",
        ("g6.2xlarge", "g5.2xlarge", "g6.4xlarge", "g5.4xlarge"),
    ),
    Tier(
        "medium",
        "four 24 GB cards in one box: nightly training of mid-size models, data parallel",
        ("g6.12xlarge", "g5.12xlarge", "g6.24xlarge", "g5.24xlarge"),
    ),
    Tier(
        "large",
        "eight A100 with NVLink (40 GB, or 80 GB on p4de) and 4 EFA interfaces: one node or a few",
        ("p4d.24xlarge", "p4de.24xlarge"),
    ),
    Tier(
        "xlarge",
        "eight H100 or H200 (80 or 141 GB) with NVLink and 16 or 32 EFA interfaces: the largest runs",
        ("p5.48xlarge", "p5en.48xlarge", "p5e.48xlarge"),
    ),
)

TIERS: Mapping[str, Tier] = MappingProxyType({tier.name: tier for tier in _ALL})
"""All tiers by name, smallest first."""
