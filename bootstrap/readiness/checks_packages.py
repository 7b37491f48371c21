"""Nothing may replace the driver under a loaded module while the node serves (unattended upgrades)."""

from __future__ import annotations

import re

from bootstrap.readiness.check import Check, Result, decided, not_asked
from bootstrap.readiness.checks_identity import NO_GROUP
from bootstrap.readiness.commands import Command, whole
from bootstrap.readiness.expectation import Expectation
from bootstrap.readiness.read_system import Unit, units
from bootstrap.readiness.reading import Unreadable, matched
from bootstrap.readiness.situation import Situation

APT_UNITS = ("apt-daily.timer", "apt-daily-upgrade.timer", "unattended-upgrades.service")
DNF_UNITS = ("dnf-automatic.timer", "dnf-automatic-install.timer")
BLACKLIST: Command = whole(("apt-config", "dump", "--no-empty", "Unattended-Upgrade::Package-Blacklist"))
UPGRADED = (
    "nvidia-driver-580",
    "libnvidia-compute-580",
    "cuda-drivers",
    "linux-image-6.8.0-1060-aws",
    "linux-headers-6.8.0-1060-aws",
    "linux-modules-6.8.0-1060-aws",
)
"""Names of packages that break a running node when they change, one of each kind."""
_LINE = re.compile(r'Unattended-Upgrade::Package-Blacklist(?:::)? "(?P<pattern>.*)";')
_REMEDY = "systemctl mask --now apt-daily.timer apt-daily-upgrade.timer unattended-upgrades.service"


def held(situation: Situation, expected: Expectation) -> Result:
    """Upgrades are masked, or everything that matters is on their blacklist."""
    if situation.manifest is None:
        return not_asked(NO_GROUP)
    if not expected.wants_gpu:
        return not_asked("a runtime without CUDA needs no driver")
    if situation.has("/usr/bin/apt-get"):
        return _apt(situation)
    if situation.has("/usr/bin/dnf"):
        return _dnf(situation)
    raise Unreadable("package manager", "neither apt-get nor dnf in /usr/bin")


def _apt(situation: Situation) -> Result:
    loose = [unit for unit in units(situation, APT_UNITS) if not _held(unit)]
    expected = "automatic upgrades masked, or the driver and the kernel on their blacklist"
    if not loose:
        return decided(True, expected, "masked", "")
    open_to_change = _not_blacklisted(situation)
    found = f"{_named(loose)}; not on the blacklist: {', '.join(open_to_change)}"
    return decided(not open_to_change, expected, found if open_to_change else "on the blacklist", _REMEDY)


def _dnf(situation: Situation) -> Result:
    running = [unit for unit in units(situation, DNF_UNITS) if unit.active not in {"inactive", "failed"}]
    remedy = f"systemctl mask --now {' '.join(DNF_UNITS)}"
    return decided(not running, "no automatic upgrades", _named(running) or "none", remedy)


def _held(unit: Unit) -> bool:
    """A unit that is only stopped starts again with the next boot's timers, or at once by its timer."""
    return unit.active in {"inactive", "failed"} and unit.load in {"masked", "not-found"}


def _named(loose: list[Unit]) -> str:
    return ", ".join(f"{unit.name} {unit.load} and {unit.active}" for unit in loose)


def _not_blacklisted(situation: Situation) -> list[str]:
    """Patterns match from a name's beginning, as unattended-upgrades matches them."""
    answer = situation.ask(BLACKLIST).splitlines()
    texts = [matched("apt-config", _LINE, line)["pattern"] for line in answer]
    try:
        patterns = [re.compile(text) for text in texts if text]
    except re.error as error:
        raise Unreadable("apt-config", f"a pattern of the blacklist: {error}") from None
    return [name for name in UPGRADED if not any(pattern.match(name) for pattern in patterns)]


CHECKS = (Check("packages.held", held, "automatic upgrades held", _REMEDY),)
