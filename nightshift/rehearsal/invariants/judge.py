"""Holds a running site to every rule, at the moments at which each could break, and says what broke first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal, cast

from nightshift.plan.calendar import Override
from nightshift.rehearsal.control.site import Site
from nightshift.rehearsal.control.state import GroupState, Node, VolumeState
from nightshift.rehearsal.control.timing import LATE_AT_MOST_S
from nightshift.rehearsal.expect import Expect, GroupExpect
from nightshift.rehearsal.invariants import billing, capacity, kept, leftover, steps, writers
from nightshift.rehearsal.invariants.clock import first_turn, now_and_then
from nightshift.rehearsal.invariants.excuses import Excuses
from nightshift.rehearsal.invariants.looks import Looks
from nightshift.rehearsal.invariants.spans import Span, joined, near
from nightshift.rehearsal.story import Invariant
from nightshift.rehearsal.world.model import SnapshotPolicy

RULES: Mapping[str, str] = {
    rule.NAME: rule.SAYS for rule in (writers, steps, billing, capacity, kept, leftover)
}


Reword = Callable[[str, Override], tuple[Span, ...]]
"""A group's windows under an operator's word."""


class Broken(Exception):
    """A rule is broken: its name, when, what was seen, and the group if it is one's."""

    def __init__(self, rule: str, at: int, says: str, group: str | None = None) -> None:
        super().__init__(f"{rule}: {says}")
        self.rule, self.at, self.says, self.group = rule, at, says, group


class Judge:
    """A watch. Raises Broken at the first break."""

    def __init__(self, expected: Expect, reword: Reword | None = None) -> None:
        self.expected = Expect(dict(expected.groups), expected.snapshots)
        self._reword = reword
        self.words: dict[str, list[tuple[int, int, Literal["up", "down"]]]] = {}
        self._excuses = Excuses(self.expected)
        self._committed: dict[str, int] = {}
        self._twice_since: dict[str, int] = {}
        self._destroying = False
        self._looks = Looks()
        self.two_writer_seconds = 0

    def invariants(self) -> tuple[Invariant, ...]:
        """Every rule and how often it was looked at."""
        return tuple(
            Invariant(name, says, self.checked[name], self._looks.told(name)) for name, says in RULES.items()
        )

    @property
    def checked(self) -> dict[str, int]:
        """How often each rule was looked at."""
        return {name: self._looks.checked(name) for name in RULES}

    def begin(self, site: Site) -> None:
        """Plan the looks that no event of the site brings."""
        self._excuses.begin(site)
        for name in self.expected.groups:
            self._plan_looks(site, name)
        for policy in self.expected.snapshots:
            due = first_turn(policy, site.start)
            site.queue.at(due + 3_600, self._look_at_snapshots, site, policy, due, 1)

    def _plan_looks(self, site: Site, name: str) -> None:
        windows = [span for span in self.expected.groups[name].windows if span[1] >= site.now]
        now_and_then(site, windows, lambda span: self._look_at(site, name, span))

    def reworded(self, site: Site, group: GroupState, override: Override) -> None:
        """An operator's word is in force from now on: what was is kept, what comes is another calendar."""
        if self._reword is None:
            return
        expected = self.expected.groups[group.name]
        windows = joined(expected.windows, self._reword(group.name, override), site.now)
        groups = cast(dict[str, GroupExpect], self.expected.groups)
        groups[group.name] = replace(expected, windows=windows)
        until = int(override.until.timestamp())
        self.words.setdefault(group.name, []).append((site.now, until, override.state))
        self._excuses.struck(group.name, "word", site.now, site.now)
        self._plan_looks(site, group.name)

    def finish(self, site: Site) -> None:
        """The site was destroyed, and had its time."""
        volumes = {name for policy in self.expected.snapshots for name in policy.volumes}
        found = leftover.broken(site.groups.values(), site.volumes.values(), volumes)
        self._check(site, leftover.NAME, "end", found)

    def destroying(self) -> None:
        """From now on no calendar holds."""
        self._destroying = True

    def sized(self, site: Site, group: GroupState, why: str) -> None:
        """The desired size moved."""
        self._excuses.sized(site, group, why)
        if self._binding(site, group.name):
            found = capacity.broken(self.expected.groups[group.name], group.desired, site.now)
            self._check(site, capacity.NAME, "change", found, group.name)

    def mounted(self, site: Site, volume: VolumeState, node: Node) -> None:
        """A node writes to a volume from now on."""
        found = writers.broken(volume)
        if found is not None:
            self._twice_since.setdefault(volume.volume.id, site.now)
        self._check(site, writers.NAME, "mount", found, node.instance.group)

    def unmounted(self, site: Site, volume: VolumeState, node: Node) -> None:
        """It writes no more."""
        since = self._twice_since.get(volume.volume.id)
        if since is not None and len(volume.writers) < 2:
            self.two_writer_seconds += site.now - since
            del self._twice_since[volume.volume.id]

    def resumed(self, site: Site, group: GroupState, node: Node, step: int) -> None:
        """A job goes on from `step`."""
        found = steps.broken_resume(group.name, step, self._committed.get(group.name, 0))
        self._check(site, steps.NAME, "resume", found, group.name)

    def stopped(
        self, site: Site, group: GroupState, node: Node, step: int, kept: int, may_lose: int, planned: bool
    ) -> None:
        """A job stopped at `step`, of which `kept` are saved."""
        self._committed[group.name] = max(kept, self._committed.get(group.name, 0))
        found = steps.broken_stop(group.name, step, kept, may_lose, planned)
        self._check(site, steps.NAME, "planned" if planned else "cut", found, group.name)

    def ended(self, site: Site, group: GroupState, node: Node) -> None:
        """An instance is gone."""
        self._check_bill(site, self.expected.groups[group.name], node, "ended")

    def missed(self, site: Site, group: GroupState) -> None:
        """A scheduled action of the group was lost."""
        self._excuses.missed(site, group)

    def struck(self, site: Site, group: GroupState, kind: str, until: int) -> None:
        """A fault hit the group."""
        self._excuses.struck(group.name, kind, site.now, until)

    def snapshots(self, site: Site, policy: SnapshotPolicy, due: int) -> None:
        """Looked at when the hour is over, whether a turn came or not."""

    def _check(self, site: Site, rule: str, what: str, found: str | None, group: str | None = None) -> None:
        self._looks.add(rule, what)
        if found is not None:
            raise Broken(rule, site.now, found, group)

    def _binding(self, site: Site, group: str) -> bool:
        """Whether the calendar binds the group's size now; an excuse is written down."""
        why = "" if self._destroying else self._excuses.excuse(group, site.now)
        if why:
            self._looks.excused(capacity.NAME, why)
        return not self._destroying and not why

    def _check_bill(self, site: Site, group: GroupExpect, node: Node, what: str) -> None:
        if self._destroying:
            return
        life = (node.instance.launched, node.ended or site.now)
        extra = self._excuses.extra_s(group, site.now)
        after = billing.allowance(group.drain_s, extra)
        around = near(group.windows, life[0] - after, life[1])
        found = billing.broken(group.name, node.id, life, around, after)
        self._check(site, billing.NAME, what, found, group.name)

    def _look_at(self, site: Site, name: str, span: Span) -> None:
        """Plan this window's looks: after both edges, after every boot had its time, after every drain."""
        group = self.expected.groups[name]
        late = LATE_AT_MOST_S + 1
        site.queue.at(span[0] + late, self._look_at_size, site, name)
        site.queue.at(span[1] + late, self._look_at_size, site, name)
        boot = min(span[0] + late + group.boot_s, span[1] - 1)
        site.queue.at(boot, self._look_at_service, site, name, span)
        self._look_after(site, name, span[1])

    def _look_after(self, site: Site, name: str, end: int) -> None:
        group = self.expected.groups[name]
        extra = self._excuses.extra_s(group, site.now)
        site.queue.at(end + billing.allowance(group.drain_s, extra) + 1, self._look_at_alive, site, name, end)

    def _look_at_size(self, site: Site, name: str) -> None:
        group = self.expected.groups[name]
        if self._binding(site, group.name):
            found = capacity.broken(group, site.groups[group.name].desired, site.now)
            self._check(site, capacity.NAME, "edge", found, group.name)

    def _look_at_service(self, site: Site, name: str, span: Span) -> None:
        group = self.expected.groups[name]
        if span not in near(group.windows, span[0], span[1]):
            return
        booted = span[0] + LATE_AT_MOST_S + group.boot_s
        if not booted <= site.now < span[1] or self._excuses.hurt(site.now):
            return
        if self._binding(site, group.name):
            here = len(site.groups[group.name].in_service())
            self._check(site, capacity.NAME, "boot", capacity.broken_service(group, here), group.name)

    def _look_at_alive(self, site: Site, name: str, end: int) -> None:
        """A node that never ends is found without its end; a fault since may have given it more time."""
        group = self.expected.groups[name]
        extra = self._excuses.extra_s(group, site.now)
        if site.now <= end + billing.allowance(group.drain_s, extra):
            self._look_after(site, name, end)
            return
        for node in site.groups[group.name].nodes:
            self._check_bill(site, group, node, "there")

    def _look_at_snapshots(self, site: Site, policy: kept.SnapshotExpect, due: int, turns: int) -> None:
        for name in policy.volumes:
            for state in site.named.get(name, ()):
                self._check(site, kept.NAME, "turn", kept.broken(policy, name, state.snapshots, due, turns))
        following = due + policy.every_hours * 3_600
        site.queue.at(following + 3_600, self._look_at_snapshots, site, policy, following, turns + 1)
