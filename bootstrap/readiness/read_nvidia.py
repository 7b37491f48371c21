"""What NVIDIA's driver says of itself and of its cards."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bootstrap.readiness.commands import Command, whole
from bootstrap.readiness.reading import Unreadable, fields, matched, seen
from bootstrap.readiness.situation import Situation

_FIELDS = (
    "index",
    "name",
    "driver_version",
    "compute_cap",
    "memory.total",
    "ecc.mode.current",
    "ecc.mode.pending",
    "ecc.errors.uncorrected.volatile.total",
    "mig.mode.current",
    "persistence_mode",
)
CARDS: Command = ("nvidia-smi", f"--query-gpu={','.join(_FIELDS)}", "--format=csv,noheader,nounits")
ROWS: Command = (
    "nvidia-smi",
    "--query-remapped-rows=gpu_uuid,remapped_rows.pending,remapped_rows.failure",
    "--format=csv,noheader",
)
PAGES: Command = ("nvidia-smi", "--query-gpu=index,retired_pages.pending", "--format=csv,noheader")
"""Cards before Ampere retire pages; newer ones remap rows."""
FABRIC: Command = (
    "nvidia-smi",
    "--query-gpu=index,fabric.state,fabric.status",
    "--format=csv,noheader",
)
LINKS: Command = whole(("nvidia-smi", "nvlink", "-s"))
MANAGER: Command = ("nv-fabricmanager", "--version")
SMI_DEADLINE_S = 60.0
"""Without persistence the first call loads the cards' state, some seconds for each."""
MODULE_FILE = "/proc/driver/nvidia/version"
PARAMETERS_FILE = "/proc/driver/nvidia/params"
_MODULE = re.compile(
    r"NVRM version: NVIDIA UNIX (?P<open>Open )?[\w ]*?Kernel Module(?: for \w+)?\s+"
    r"(?P<version>\d+\.\d+(?:\.\d+)?)\s.*"
)
_VERSION = re.compile(r"\d{3}\.\d+(?:\.\d+)?")
_CAPABILITY = re.compile(r"(\d+)\.(\d)")
_MANAGER = re.compile(r"Fabric Manager version is\s*:\s*(\d+\.\d+(?:\.\d+)?)\s*")
_GPU_LINE = re.compile(r"GPU (\d+): .+ \(UUID: GPU-[0-9a-f-]+\)")
_LINK_LINE = re.compile(r"\s+Link (\d+): (?:(?P<speed>[\d.]+) GB/s|<?inactive>?)")
_FIRMWARE = re.compile(r"^EnableGpuFirmware: (\d+)$", re.MULTILINE)
NOT_APPLICABLE = frozenset({"[N/A]", "N/A", "[Not Supported]", "Not Supported"})
_SWITCH = frozenset({"Enabled", "Disabled", *NOT_APPLICABLE})
_YES_NO = frozenset({"Yes", "No", *NOT_APPLICABLE})


@dataclass(frozen=True)
class Module:
    """The loaded kernel module."""

    version: str
    open: bool


@dataclass(frozen=True)
class Card:
    """One GPU as nvidia-smi has it. `memory_mib` usable, `uncorrected` None where the card doesn't count."""

    index: int
    name: str
    driver: str
    capability: tuple[int, int]
    memory_mib: int
    ecc: str
    ecc_pending: str
    uncorrected: int | None
    mig: str
    persistence: str


@dataclass(frozen=True)
class FabricState:
    """One card's part in the NVLink fabric."""

    index: int
    state: str
    status: str


def module(situation: Situation) -> Module:
    """Raises Unreadable, also when no NVIDIA module is loaded."""
    first = situation.read(MODULE_FILE).splitlines()[0]
    found = matched(MODULE_FILE, _MODULE, first)
    return Module(found["version"], bool(found["open"]))


def cards(situation: Situation) -> tuple[Card, ...]:
    """All cards in nvidia-smi's order. Raises Unreadable."""
    text = situation.ask(CARDS, SMI_DEADLINE_S)
    found = tuple(_card(line) for line in text.splitlines())
    if [card.index for card in found] != list(range(len(found))):
        raise Unreadable("nvidia-smi", f"cards that aren't numbered from 0: {seen(text)}")
    return found


def _card(line: str) -> Card:
    cell = dict(zip(_FIELDS, fields("nvidia-smi", line, len(_FIELDS)), strict=True))
    major, minor = matched("nvidia-smi compute_cap", _CAPABILITY, cell["compute_cap"]).groups()
    return Card(
        index=_number("index", cell["index"]),
        name=cell["name"],
        driver=matched("nvidia-smi driver_version", _VERSION, cell["driver_version"])[0],
        capability=(int(major), int(minor)),
        memory_mib=_number("memory.total", cell["memory.total"]),
        ecc=_known("ecc.mode.current", cell["ecc.mode.current"], _SWITCH),
        ecc_pending=_known("ecc.mode.pending", cell["ecc.mode.pending"], _SWITCH),
        uncorrected=_count(cell["ecc.errors.uncorrected.volatile.total"]),
        mig=_known("mig.mode.current", cell["mig.mode.current"], _SWITCH),
        persistence=_known("persistence_mode", cell["persistence_mode"], _SWITCH),
    )


def _known(name: str, value: str, allowed: frozenset[str]) -> str:
    if value not in allowed:
        raise Unreadable(f"nvidia-smi {name}", seen(value))
    return value


def _number(name: str, value: str) -> int:
    if not value.isascii() or not value.isdigit():
        raise Unreadable(f"nvidia-smi {name}", seen(value))
    return int(value)


def _count(value: str) -> int | None:
    return None if value in NOT_APPLICABLE else _number("ecc.errors.uncorrected.volatile.total", value)


def retiring(situation: Situation) -> tuple[bool, ...]:
    """For each card: whether a page waits for its retirement. Raises Unreadable."""
    rows = situation.ask(PAGES, SMI_DEADLINE_S).splitlines()
    cells = [fields("nvidia-smi retired pages", row, 2)[1] for row in rows]
    return tuple(_known("retired_pages.pending", cell, _YES_NO) == "Yes" for cell in cells)


def remapped(situation: Situation) -> tuple[tuple[bool, bool], ...]:
    """For each card that remaps rows: (remap pending, remap failed). Raises Unreadable."""
    text = situation.ask(ROWS, SMI_DEADLINE_S)
    return tuple(_rows(line) for line in text.splitlines())


def _rows(line: str) -> tuple[bool, bool]:
    uuid, pending, failure = fields("nvidia-smi remapped rows", line, 3)
    if not uuid.startswith("GPU-"):
        raise Unreadable("nvidia-smi remapped rows", seen(line))
    return _flag("remapped_rows.pending", pending), _flag("remapped_rows.failure", failure)


def _flag(name: str, value: str) -> bool:
    """Newer drivers say Yes and No, older ones 1 and 0."""
    return _known(name, value, _YES_NO | {"0", "1"}) in {"Yes", "1"}


def fabric(situation: Situation, *, anew: bool = False) -> tuple[FabricState, ...]:
    """Every card's state. Raises Unreadable."""
    rows = situation.ask(FABRIC, SMI_DEADLINE_S, anew=anew).splitlines()
    cells = [fields("nvidia-smi fabric", row, 3) for row in rows]
    return tuple(FabricState(_number("index", index), state, status) for index, state, status in cells)


def links(situation: Situation) -> tuple[tuple[int, int], ...]:
    """For each card: (links that carry, links that don't). Raises Unreadable."""
    found: list[list[int]] = []
    for line in situation.ask(LINKS, SMI_DEADLINE_S).splitlines():
        if _GPU_LINE.fullmatch(line):
            found.append([0, 0])
            continue
        link = matched("nvidia-smi nvlink -s", _LINK_LINE, line)
        if not found:
            raise Unreadable("nvidia-smi nvlink -s", f"a link before its card: {seen(line)}")
        found[-1][0 if link["speed"] else 1] += 1
    return tuple((up, down) for up, down in found)


def manager_version(situation: Situation) -> str:
    """The fabric manager's version. Raises Unreadable."""
    return matched("nv-fabricmanager --version", _MANAGER, situation.ask(MANAGER))[1]


def firmware_on(situation: Situation) -> bool:
    """Whether the module runs the cards' own firmware (GSP). Raises Unreadable."""
    found = _FIRMWARE.findall(situation.read(PARAMETERS_FILE))
    if len(found) != 1:
        raise Unreadable(PARAMETERS_FILE, "no line EnableGpuFirmware")
    return found[0] != "0"
