"""NVIDIA's Xid errors, grouped by what is to be done about them on EC2.

Grouping: aws-samples' gpu-cluster-healthcheck after NVIDIA's r590 table, read on 2026-11-30.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

XidGroup = Literal["isolate", "reboot", "reset", "application", "ignore", "advice"]
_GROUPS: tuple[tuple[XidGroup, tuple[int, ...]], ...] = (
    ("isolate", (54,)),
    ("reboot", (79, 151, 168)),
    ("reset", (48, 64, 74, 95, 109, 110, 119, 120, 136, 140, 143, 155, 156, 158)),
    ("application", (13, 31, 94, 126)),
    ("ignore", (43, 63, 92, 121)),
    ("advice", (154,)),
)
XIDS: Mapping[int, XidGroup] = MappingProxyType({code: group for group, codes in _GROUPS for code in codes})
"""By code. 154's own text says what to do. A code that isn't here is not known to be harmless."""
HARMLESS: frozenset[XidGroup] = frozenset({"application", "ignore"})
"""A program's own error, or none: the card is as good as before."""
