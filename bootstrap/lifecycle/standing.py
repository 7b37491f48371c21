"""Asks, again and again, whether this node may stay: AWS's time and the operator's word, then the guard."""

from __future__ import annotations

from collections.abc import Callable

from bootstrap.aws import AwsError
from bootstrap.lifecycle.aws_clock import AwsClock
from bootstrap.lifecycle.guard import Word, calendar_of, judge
from bootstrap.manifest import BootManifest
from nightshift.records.errors import RecordsError
from nightshift.records.model import OverrideRecord
from nightshift.records.store import Records

TWICE = 2
"""Looks in a row that must say "go": one odd answer ends no run."""
UNKNOWN = Word(True, "neither AWS's time nor the operator's word is known: nothing to act on")


class Standing:
    """What cannot be read leaves the last known word in force, and is said once until it can be again."""

    def __init__(
        self, manifest: BootManifest, records: Records, clock: AwsClock, say: Callable[[str], None]
    ) -> None:
        self._manifest, self._records, self._clock, self._say = manifest, records, clock, say
        self._known = False
        self._override: OverrideRecord | None = None
        self._quiet: set[str] = set()
        self._gone = 0

    @property
    def override(self) -> OverrideRecord | None:
        """The operator's last known word."""
        return self._override

    @property
    def doubts(self) -> bool:
        """Whether "go" was said, and not often enough."""
        return 0 < self._gone < TWICE

    def look(self) -> Word:
        """The word now. Never raises."""
        self._tried("AWS's time", self._clock.refresh)
        self._tried("the override", self._read)
        now = self._clock.now()
        if now is None or not self._known:
            return UNKNOWN
        return judge(calendar_of(self._manifest, self._override), now)

    def decided(self) -> Word:
        """The word, except that "go" must be said twice in a row."""
        word = self.look()
        self._gone = 0 if word.stay else self._gone + 1
        return word if word.stay or self._gone >= TWICE else Word(True, f"asked again: {word.says}")

    def _read(self) -> None:
        self._override = self._records.override(self._manifest.group).record
        self._known = True

    def _tried(self, what: str, act: Callable[[], None]) -> None:
        try:
            act()
        except (RecordsError, *AwsError) as error:
            if what not in self._quiet:
                self._say(f"{what} can't be read, the last known stands: {error}")
            self._quiet.add(what)
        else:
            if what in self._quiet:
                self._say(f"{what} can be read again")
            self._quiet.discard(what)
