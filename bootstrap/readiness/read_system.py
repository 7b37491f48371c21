"""What the operating system says: devices, modules, units, packages, the kernel's log, limits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bootstrap.readiness.commands import Command, whole
from bootstrap.readiness.reading import Unreadable, matched, seen
from bootstrap.readiness.situation import Situation

PCI_FOLDER = "/sys/bus/pci/devices"
NVIDIA = "0x10de"
DISPLAY_CLASSES = ("0x0300", "0x0302")
"""VGA and 3D controllers; NVSwitches are bridges (0x0680)."""
KERNEL_LOG: Command = whole(("dmesg", "--color=never"))
PACKAGES: Command = whole(("dpkg-query", "-W", "-f=${db:Status-Abbrev}|${Package}|${Version}\\n"))
LOADER_CACHE: Command = whole(("ldconfig", "-p"))
CLOCK: Command = ("timedatectl", "show", "--property=NTPSynchronized")
_HEX = re.compile(r"0x[0-9a-f]{4,6}\n")
_XID = re.compile(r".*NVRM: Xid \((?:PCI:)?(?P<card>[0-9a-fA-F:.]+)\): (?P<code>\d+)\b,?\s*(?P<text>.*)")
_PACKAGE = re.compile(r"(?P<state>[a-z][a-zA-Z][ A-Z])\|(?P<name>[^|\s]+)\|(?P<version>[^|\s]*)")
_LIMIT = re.compile(
    r"(?P<name>Max [a-z ]+?)\s{2,}(?P<soft>\d+|unlimited)\s+(?P<hard>\d+|unlimited)(?:\s+\S+)?\s*"
)
_UNIT_KEYS = ("Id", "LoadState", "ActiveState")
UNLIMITED = 1 << 63


@dataclass(frozen=True)
class Unit:
    """A systemd unit; `load` is `not-found` for one that isn't installed."""

    name: str
    load: str
    active: str


@dataclass(frozen=True)
class Xid:
    """One error of a card in the kernel's log."""

    card: str
    code: int
    text: str


def nvidia_devices(situation: Situation) -> tuple[str, ...]:
    """PCI addresses of the GPUs, as the kernel lists them. Raises Unreadable."""
    folder = situation.path(PCI_FOLDER)
    try:
        addresses = sorted(each.name for each in folder.iterdir())
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise Unreadable(PCI_FOLDER, str(error.strerror)) from None
    return tuple(each for each in addresses if _is_gpu(situation, f"{PCI_FOLDER}/{each}"))


def _is_gpu(situation: Situation, device: str) -> bool:
    if _hex(situation, f"{device}/vendor") != NVIDIA:
        return False
    return _hex(situation, f"{device}/class").startswith(DISPLAY_CLASSES)


def _hex(situation: Situation, name: str) -> str:
    return matched(name, _HEX, situation.read(name))[0].strip()


def module_loaded(situation: Situation, name: str) -> bool:
    """Whether a kernel module is there and works, by sysfs."""
    return situation.has(f"/sys/module/{name}")


def kernel(situation: Situation) -> str:
    """The running kernel's release. Raises Unreadable."""
    return situation.read("/proc/sys/kernel/osrelease").strip()


def units(situation: Situation, names: Sequence[str]) -> tuple[Unit, ...]:
    """The state of each unit, in that order. Raises Unreadable."""
    command = ("systemctl", "show", f"--property={','.join(_UNIT_KEYS)}", *names)
    text = situation.ask(command)
    blocks = [dict(_pair(line) for line in block.splitlines()) for block in text.strip().split("\n\n")]
    known = all(len(block) == len(_UNIT_KEYS) for block in blocks)
    if not known or [block["Id"] for block in blocks] != list(names):
        raise Unreadable("systemctl show", f"not one block for each of {', '.join(names)}: {seen(text)}")
    return tuple(Unit(block["Id"], block["LoadState"], block["ActiveState"]) for block in blocks)


def _pair(line: str) -> tuple[str, str]:
    key, equals, value = line.partition("=")
    if not equals or key not in _UNIT_KEYS:
        raise Unreadable("systemctl show", seen(line))
    return key, value


def xids(situation: Situation) -> tuple[Xid, ...]:
    """The cards' errors since boot, oldest first. Raises Unreadable."""
    lines = [line for line in situation.ask(KERNEL_LOG).splitlines() if "NVRM: Xid" in line]
    found = [matched("kernel log", _XID, line) for line in lines]
    return tuple(Xid(each["card"], int(each["code"]), each["text"]) for each in found)


def installed(situation: Situation) -> dict[str, str]:
    """Installed Debian packages and their versions. Raises Unreadable."""
    rows = [matched("dpkg-query", _PACKAGE, line) for line in situation.ask(PACKAGES).splitlines()]
    return {row["name"]: row["version"] for row in rows if row["state"].startswith(("ii", "hi"))}


def cached_libraries(situation: Situation) -> tuple[str, ...]:
    """Every library that the loader finds by name, as `name => path` lines. Raises Unreadable."""
    first, *rest = situation.ask(LOADER_CACHE).splitlines()
    if not re.fullmatch(r"\d+ libs found in cache .*", first):
        raise Unreadable("`ldconfig -p`", seen(first))
    return tuple(line.strip() for line in rest if " => " in line)


def clock_synchronized(situation: Situation, *, anew: bool = False) -> bool:
    """Raises Unreadable."""
    return (
        matched("timedatectl", re.compile(r"NTPSynchronized=(yes|no)\n"), situation.ask(CLOCK, anew=anew))[1]
        == "yes"
    )


def hard_limit(situation: Situation, name: str) -> int:
    """A limit of this process such as `Max open files`, UNLIMITED for none. Raises Unreadable."""
    for line in situation.read("/proc/self/limits").splitlines()[1:]:
        found = _LIMIT.fullmatch(line)
        if found and found["name"] == name:
            return UNLIMITED if found["hard"] == "unlimited" else int(found["hard"])
    raise Unreadable("/proc/self/limits", f"no line {name}")
