"""NVSwitch machines: until the fabric is joined, CUDA fails with error 802 while nvidia-smi looks fine."""

from __future__ import annotations

from bootstrap.readiness.check import Check, Result, bad, decided, not_asked
from bootstrap.readiness.checks_driver import NO_GPU
from bootstrap.readiness.expectation import Expectation
from bootstrap.readiness.read_nvidia import (
    NOT_APPLICABLE,
    FabricState,
    fabric,
    links,
    manager_version,
    module,
)
from bootstrap.readiness.read_system import module_loaded, units
from bootstrap.readiness.situation import Situation

UNIT = "nvidia-fabricmanager.service"
SUBNET_MANAGER = ("/opt/nvidia/nvlsm/sbin/nvlsm", "/usr/sbin/nvlsm", "/usr/bin/nvlsm")
JOINING_S, PAUSE_S = 300.0, 5.0
"""How long the cards may be `In Progress`; NVIDIA/NVSentinel#883 and the facts' limit."""
_NO_SWITCH = "the type's cards share no NVSwitch"
_RESTART = f"systemctl enable --now {UNIT}; see `journalctl -u {UNIT}`"


def _why_not(expected: Expectation) -> str | None:
    if not expected.wants_gpu:
        return NO_GPU
    return None if expected.switched else _NO_SWITCH


def manager(situation: Situation, expected: Expectation) -> Result:
    """Its service runs."""
    if why := _why_not(expected):
        return not_asked(why)
    (unit,) = units(situation, (UNIT,))
    found = "not installed" if unit.load == "not-found" else f"{unit.load} and {unit.active}"
    return decided(unit.active == "active", f"{UNIT} active", found, _RESTART)


def version(situation: Situation, expected: Expectation) -> Result:
    """It refuses to work with a driver that differs in the last digit."""
    if why := _why_not(expected):
        return not_asked(why)
    wanted, found = module(situation).version, manager_version(situation)
    remedy = f"install nvidia-fabricmanager {wanted}, hold it together with the driver"
    return decided(wanted == found, f"fabric manager {wanted}", found, remedy)


def subnet_manager(situation: Situation, expected: Expectation) -> Result:
    """B200 and B300 join over InfiniBand's own protocol."""
    if why := _why_not(expected):
        return not_asked(why)
    if expected.gpu is None or not expected.gpu.subnet_manager:
        return not_asked("the type's switches need none")
    missing = [] if module_loaded(situation, "ib_umad") else ["module ib_umad"]
    if not any(map(situation.has, SUBNET_MANAGER)):
        missing.append("nvlsm")
    found = f"no {' and no '.join(missing)}" if missing else "both there"
    return decided(not missing, "nvlsm and module ib_umad", found, "install nvlsm, modprobe ib_umad")


def state(situation: Situation, expected: Expectation) -> Result:
    """Every card has joined; one that is still at it is waited for."""
    unknown = expected.kind is None
    if (why := _why_not(expected)) and not (unknown and expected.wants_gpu):
        return not_asked(why)
    found = fabric(situation, anew=True)
    for _ in range(int(JOINING_S / PAUSE_S)):
        if not any(card.state == "In Progress" for card in found):
            break
        situation.sleep(PAUSE_S)
        found = fabric(situation, anew=True)
    if unknown and all(card.state in NOT_APPLICABLE for card in found):
        return not_asked("the cards share no NVSwitch")
    return _joined(found, expected.cards or len(found))


def _joined(found: tuple[FabricState, ...], cards: int) -> Result:
    wanted = f"{cards} GPUs Completed, Success"
    off = [card for card in found if (card.state, card.status) != ("Completed", "Success")]
    if off:
        told = "; ".join(f"GPU {card.index} {card.state}, {card.status}" for card in off)
        return bad(wanted, told, f"{_RESTART}; if it stays, replace the node")
    return decided(len(found) == cards, wanted, f"{len(found)} GPUs", "see driver.count")


def nvlinks(situation: Situation, expected: Expectation) -> Result:
    """All links of each card carry."""
    why = _why_not(expected)
    wanted = expected.gpu.nvlinks if expected.gpu else None
    if why or wanted is None:
        return not_asked(why or "how many links there are isn't known")
    found = links(situation)
    off = [
        f"GPU {index}: {up} up, {down} down" for index, (up, down) in enumerate(found) if up != wanted or down
    ]
    told = "; ".join(off) or f"{len(found)} GPUs with {wanted}"
    whole = not off and len(found) == expected.cards
    return decided(whole, f"{expected.cards} GPUs with {wanted} NVLinks", told, "replace the node")


CHECKS = (
    Check("fabric.manager", manager, f"{UNIT} active", _RESTART),
    Check(
        "fabric.version",
        version,
        "the driver's version",
        "install nvidia-fabricmanager of the driver's version",
    ),
    Check("fabric.subnet_manager", subnet_manager, "nvlsm and module ib_umad", "install nvlsm"),
    Check("fabric.state", state, "every GPU Completed", _RESTART),
    Check("fabric.links", nvlinks, "every NVLink up", "replace the node"),
)
