"""Which nodes run in a rehearsal: real ones where this machine can, modelled ones for the rest."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from nightshift.rehearsal.control.fleet import Fleet
from nightshift.rehearsal.control.model_fleet import ModelFleet
from nightshift.rehearsal.world.model import World

if TYPE_CHECKING:
    from nightshift.settings.models import Stack


def fleet_of(
    stack: Stack, world: World, endpoint: str | None, seed: int, say: Callable[[str], None]
) -> AbstractContextManager[Fleet]:
    """The fleet for one run; what it has started is gone when the context is left.

    `endpoint`: the emulated AWS that the stack stands in, None where only its recorded world is played.
    """
    return nullcontext(ModelFleet(seed))
