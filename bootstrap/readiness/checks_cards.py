"""The cards themselves, as the driver has them: how many, which, how set, and what they suffered."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

from bootstrap.readiness.check import Check, Result, bad, decided, good, not_asked
from bootstrap.readiness.checks_driver import NO_GPU, REPLACE
from bootstrap.readiness.expectation import Expectation
from bootstrap.readiness.read_nvidia import NOT_APPLICABLE, Card, cards, remapped, retiring
from bootstrap.readiness.read_system import Xid, nvidia_devices, xids
from bootstrap.readiness.situation import Situation
from nightshift.catalog.gpus import Gpu, named
from nightshift.catalog.xids import HARMLESS, XIDS

MEMORY_SHARE = Decimal("0.9")
"""Error correction and the driver take up to 6 % of a card's nominal memory (T4: 15360 of 16384 MiB)."""
REMAPS_FROM = (8, 0)
"""Ampere and newer remap rows instead of retiring pages."""
_ADVICE = re.compile(r".*\bto 0x[0-9a-fA-F]+ \((?P<advice>[^)]*)\).*")
_RESET = "nvidia-smi --gpu-reset, or reboot; when it comes back, replace the node"


def count(situation: Situation, expected: Expectation) -> Result:
    """As many as the bus shows, and as the type has."""
    if not expected.wants_gpu:
        return not_asked(NO_GPU)
    wanted, found = expected.cards or len(nvidia_devices(situation)), len(cards(situation))
    remedy = "look for Xid 79 in `dmesg`; reboot, and replace the node if it stays"
    return decided(found == wanted, f"{wanted} GPUs in nvidia-smi", str(found), remedy)


def model(situation: Situation, expected: Expectation) -> Result:
    """Every card of the type's model, capability and memory."""
    if not expected.wants_gpu:
        return not_asked(NO_GPU)
    found = cards(situation)
    gpu = expected.gpu
    if gpu is None or expected.kind is None:
        told = sorted({f"{card.name} ({_dotted(card.capability)})" for card in found})
        return decided(len(told) == 1, "cards of one model", ", ".join(told) or "none", "use like cards")
    least = int(expected.kind.gpu_memory_gib * 1024 * MEMORY_SHARE)
    wrong = [card for card in found if not _fits(card, gpu, least)]
    wanted = f"{gpu.word}, capability {_dotted(gpu.capability)}, {least} MiB or more"
    told = "; ".join(_described(card) for card in wrong or found[:1])
    return decided(bool(found) and not wrong, wanted, told or "none", REPLACE)


def _fits(card: Card, gpu: Gpu, least_mib: int) -> bool:
    return named(card.name) == gpu and card.capability == gpu.capability and card.memory_mib >= least_mib


def _described(card: Card) -> str:
    return f"GPU {card.index} {card.name}, {_dotted(card.capability)}, {card.memory_mib} MiB"


def _dotted(capability: tuple[int, int]) -> str:
    return f"{capability[0]}.{capability[1]}"


def persistence(situation: Situation, expected: Expectation) -> Result:
    """Without it a card's state goes with the last process."""
    if not expected.wants_gpu:
        return not_asked(NO_GPU)
    off = [card.index for card in cards(situation) if card.persistence != "Enabled"]
    remedy = "systemctl enable --now nvidia-persistenced, or nvidia-smi -pm 1"
    return decided(not off, "persistence mode on", f"off on GPU {_listed(off)}" if off else "on", remedy)


def partitions(situation: Situation, expected: Expectation) -> Result:
    """Data parallel training takes whole cards."""
    if not expected.wants_gpu:
        return not_asked(NO_GPU)
    cut = [card.index for card in cards(situation) if card.mig == "Enabled"]
    found = f"on for GPU {_listed(cut)}" if cut else "off"
    return decided(not cut, "MIG off", found, "nvidia-smi -mig 0 on idle GPUs, then reboot")


def memory(situation: Situation, expected: Expectation) -> Result:
    """No uncorrected error since boot, no repair that waits for a reset, no repair that failed."""
    if not expected.wants_gpu:
        return not_asked(NO_GPU)
    found = cards(situation)
    said = [line for card in found for line in _suffered(card)]
    repairs = _repairs(situation, any(card.capability >= REMAPS_FROM for card in found))
    if len(repairs) != len(found):
        return bad("a line of repairs for each GPU", f"{len(repairs)} of {len(found)}", _RESET)
    said += [f"GPU {index}: {repair}" for index, repair in enumerate(repairs) if repair]
    return decided(not said, "no memory error, no pending repair", "; ".join(said) or "none", _RESET)


def _suffered(card: Card) -> Iterable[str]:
    if card.uncorrected:
        yield f"GPU {card.index}: {card.uncorrected} uncorrected ECC errors"
    elif card.uncorrected is None and card.ecc == "Enabled":
        yield f"GPU {card.index}: ECC on, but its errors aren't counted"
    if card.ecc_pending != card.ecc and not {card.ecc, card.ecc_pending} <= NOT_APPLICABLE:
        yield f"GPU {card.index}: ECC {card.ecc}, after the next reset {card.ecc_pending}"


def _repairs(situation: Situation, remaps: bool) -> list[str]:
    """For each card what its memory's repair lacks, empty for nothing."""
    if not remaps:
        return ["page retirement pending" if pending else "" for pending in retiring(situation)]
    rows = remapped(situation)
    return ["row remapping failed" if f else "row remapping pending" if p else "" for p, f in rows]


def errors(situation: Situation, expected: Expectation) -> Result:
    """Xid errors since boot; a program's own are harmless, one that the table doesn't have isn't."""
    if not expected.wants_gpu:
        return not_asked(NO_GPU)
    found = xids(situation)
    bad_ones = [xid for xid in found if not _harmless(xid, found)]
    if bad_ones:
        told = "; ".join(f"Xid {xid.code} on {xid.card}: {xid.text[:80]}" for xid in bad_ones[:4])
        return bad("no Xid that asks for a reset", told, _remedy(bad_ones))
    return good("no Xid that asks for a reset", f"{len(found)} harmless" if found else "none")


def _harmless(xid: Xid, found: tuple[Xid, ...]) -> bool:
    """Of one card's advice (154) the last counts."""
    group = XIDS.get(xid.code)
    if group == "advice":
        later = [other for other in found if other.card == xid.card and other.code == xid.code]
        advice = _ADVICE.fullmatch(later[-1].text)
        return advice is not None and advice["advice"] == "None"
    return group in HARMLESS


def _remedy(bad_ones: list[Xid]) -> str:
    groups = {XIDS.get(xid.code) for xid in bad_ones}
    if groups & {"isolate", "reboot", None}:
        return "replace the node"
    return _RESET


def _listed(indices: list[int]) -> str:
    return ", ".join(map(str, indices))


_SMI = "see `nvidia-smi -q`; reboot, and replace the node if it stays"
CHECKS = (
    Check("driver.count", count, "all GPUs in nvidia-smi", _SMI),
    Check("driver.model", model, "the type's cards", _SMI),
    Check("driver.persistence", persistence, "persistence mode on", _SMI),
    Check("driver.partitions", partitions, "MIG off", _SMI),
    Check("driver.memory", memory, "no memory error", _SMI),
    Check("driver.xid", errors, "a readable kernel log", "run it as root: the kernel's log is needed"),
)
