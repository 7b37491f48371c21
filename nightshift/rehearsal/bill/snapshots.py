"""Snapshots as they were taken, beside the forecast's, which counts as if all to be kept were there."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

from nightshift.catalog.prices import unit_price
from nightshift.plan.forecast import SNAPSHOT_CHANGE_PERCENT
from nightshift.rehearsal.bill.rates import HOUR, month_hours
from nightshift.rehearsal.bill.sums import Entry
from nightshift.rehearsal.control.site import Site
from nightshift.rehearsal.control.state import VolumeState

if TYPE_CHECKING:
    from nightshift.settings.models import Stack


def entries(stack: Stack, site: Site, start: int, end: int) -> Iterator[tuple[Entry, Decimal]]:
    """For each volume with a policy: what is billed, and what the forecast says for the same time in USD."""
    price = unit_price("snapshot-gib", stack.region)
    for name, volume in stack.volumes.items():
        if volume.snapshots is None:
            continue
        keep = stack.snapshots[volume.snapshots].keep
        for state in site.named.get(name, ()):
            month = month_hours(start) * HOUR
            stored = _stored(state, keep, start, end) / month
            planned = state.volume.size_gib * _times(keep) * (end - start) / month
            yield Entry(f"volume {name} snapshots", stored, price.unit, price.usd), planned * price.usd


def _times(kept: int) -> Decimal:
    """How often the volume's size is stored: the first snapshot whole, of each other what changed."""
    return Decimal(0) if not kept else 1 + Decimal(SNAPSHOT_CHANGE_PERCENT * (kept - 1)) / 100


def _stored(state: VolumeState, keep: int, start: int, end: int) -> Decimal:
    """GiB-seconds over the time."""
    edges = [start, *(at for at in state.taken if start <= at < end), end]
    spans = pairwise(edges)
    return sum(
        (
            state.volume.size_gib * _times(min(kept, keep)) * (high - low)
            for kept, (low, high) in enumerate(spans)
        ),
        Decimal(),
    )
