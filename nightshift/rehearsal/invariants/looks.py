"""At what each rule was looked at, how often, and when it might not be asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

_AT: Mapping[str, tuple[str, str]] = {
    "mount": ("a volume that a node mounted", "volumes that nodes mounted"),
    "cut": (
        "job cut off by a crash or by AWS while it trained",
        "jobs cut off by a crash or by AWS while they trained",
    ),
    "planned": ("planned end of a job", "planned ends of jobs"),
    "resume": ("start of a job from its last save", "starts of jobs from their last saves"),
    "ended": ("node that ended", "nodes that ended"),
    "there": ("node that was still there after its shift", "nodes that were still there after their shifts"),
    "change": ("change of a group's size", "changes of a group's size"),
    "edge": ("start or end of a shift", "starts and ends of shifts"),
    "boot": (
        "shift for its nodes being in service after their boots",
        "shifts for their nodes being in service after their boots",
    ),
    "turn": ("turn of a policy for a volume", "turns of policies for a volume each"),
}
"""One, and several."""
_ONCE = {"end": "the destroy after the rehearsed time"}
"""What has no number, since a rehearsal has one."""
_NEVER = {"cut": "no job cut off while it trained"}
"""What is told of when it wasn't among them, beside what was."""
_BESIDE = {"cut": ("planned", "resume")}


class Looks:
    """Counts them."""

    def __init__(self) -> None:
        self._seen: dict[str, Counter[str]] = {}
        self._excused: dict[str, Counter[str]] = {}

    def add(self, rule: str, what: str) -> None:
        """The rule was looked at, at one of these."""
        self._seen.setdefault(rule, Counter())[what] += 1

    def excused(self, rule: str, why: str) -> None:
        """It would have been looked at."""
        self._excused.setdefault(rule, Counter())[why] += 1

    def checked(self, rule: str) -> int:
        """How often it was looked at."""
        return sum(self._seen.get(rule, Counter()).values())

    def told(self, rule: str) -> str:
        """`3 planned ends of jobs, no job cut off while it trained; not asked once: ...`."""
        seen = self._seen.get(rule, Counter())
        said = [f"{many:,} {_AT[what][many != 1]}" for what in _AT if (many := seen[what])]
        said += [says for what, says in _ONCE.items() if seen[what]]
        said += [
            says
            for what, says in _NEVER.items()
            if not seen[what] and any(seen[one] for one in _BESIDE[what])
        ]
        excused = [
            f"{many:,} left out, since {why}" for why, many in sorted(self._excused.get(rule, {}).items())
        ]
        return "; ".join([", ".join(said), *excused] if said else excused)
