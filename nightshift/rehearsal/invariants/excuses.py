"""When a rule may not be asked for: an alarm stopped the group, its run is done, AWS lost an action.

An excuse is as narrow as its cause: it ends with the group's next shift.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from nightshift.rehearsal.control.site import Site
from nightshift.rehearsal.control.state import GroupState
from nightshift.rehearsal.expect import Expect, GroupExpect
from nightshift.rehearsal.invariants.billing import GUARD_S
from nightshift.rehearsal.invariants.spans import around, latest, upcoming

_HURT_FOR_S = 43_200
"""A fault may delay other groups too, through the volumes that they share; this long at most."""
_HOLDS_UP = ("missed-action", "network-split", "kill-agent", "api-throttled")
"""Faults that keep a node from hearing or acting on its end."""


def middle(expected: Expect, start: int) -> list[str]:
    """The groups in whose shift `start` falls."""
    groups = expected.groups.items()
    return [name for name, group in groups if (span := around(group.windows, start)) and span[0] < start]


@dataclass
class Excuses:
    """What has happened to each group that a rule must allow for."""

    expected: Expect
    _until: dict[str, tuple[int, str]] = field(default_factory=dict)
    _struck: dict[str, list[tuple[str, int, int]]] = field(default_factory=dict)
    _last: int = -(1 << 62)

    def excuse(self, group: str, now: int) -> str:
        """Why the group's size is excused now, or nothing."""
        until, why = self._until.get(group, (now, ""))
        return why if now < until else ""

    def hurt(self, now: int) -> bool:
        """Whether a fault hit any group lately."""
        return now < self._last + _HURT_FOR_S

    def sized(self, site: Site, group: GroupState, why: str) -> None:
        """An alarm's policy took it down, or its nodes left for a reason that holds."""
        finished = group.job.finished is not None and why == "released: the run is done"
        capped = group.group.manifest.gpu_hours_monthly is not None and "GPU-hours" in why
        if why.startswith("alarm "):
            self._excuse(group.name, site.now, f"an alarm had stopped {group.name}")
        elif finished:
            self._excuse(group.name, site.now, f"the run of {group.name} was done")
        elif capped:
            self._excuse(group.name, site.now, f"{group.name} had used up its GPU-hours")

    def begin(self, site: Site) -> None:
        """A group that is deployed in the middle of a shift comes up with the next one."""
        for name in middle(self.expected, site.start):
            self._excuse(name, site.start, f"{name} was deployed in the middle of its shift")

    def missed(self, site: Site, group: GroupState) -> None:
        """AWS lost an action: nothing brings the size before the next one."""
        self._excuse(group.name, site.now, f"AWS had lost an action of {group.name}")
        self.struck(group.name, "missed-action", site.now, site.now)

    def struck(self, group: str, kind: str, now: int, until: int) -> None:
        """A fault hit the group."""
        self._struck.setdefault(group, []).append((kind, now, until))
        self._last = max(self._last, until, now)

    def extra_s(self, group: GroupExpect, now: int) -> int:
        """How much longer than usual a node may live after its shift: until its own guard can act."""
        span = latest(group.windows, now)
        if span is None:
            return 0
        begun = span[0] - GUARD_S
        late = [
            GUARD_S + group.drain_s + max(0, until - span[1])
            for kind, at, until in self._struck.get(group.name, ())
            if kind in _HOLDS_UP and max(at, until) >= begun
        ]
        return max(late, default=0)

    def _excuse(self, group: str, now: int, why: str) -> None:
        following = upcoming(self.expected.groups[group].windows, now)
        self._until[group] = (following[0] if following else 1 << 62, why)
