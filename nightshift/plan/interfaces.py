"""The network interfaces of a node that speaks EFA to its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nightshift.catalog.instance_types import InstanceType


@dataclass(frozen=True)
class Interface:
    """One interface of the launch template: network card, device index on it, and AWS's interface type."""

    card: int
    device: int
    kind: Literal["interface", "efa", "efa-only"]


def efa_interfaces(kind: InstanceType) -> tuple[Interface, ...]:
    """The layout of a type, after AWS's current EFA guide.

    One card: a single `efa` interface, which carries IP and EFA and keeps the public address. Several
    cards: plain on card 0, `efa-only` on card 0 device 1 where that card has EFA, and `efa-only` at
    device 0 of every other card. A type without EFA has the one plain interface.
    """
    count = kind.efa_max_interfaces or 0
    cards = kind.network_cards or 1
    if count == 0:
        return (Interface(0, 0, "interface"),)
    if cards == 1:
        return (Interface(0, 0, "efa"),)
    first_card = (Interface(0, 1, "efa-only"),) if count >= cards else ()
    others = tuple(Interface(card, 0, "efa-only") for card in range(1, cards))
    return (Interface(0, 0, "interface"), *first_card, *others)
