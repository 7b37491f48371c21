"""Makes a runtime that doesn't stand yet: unpacked from its pack, or built, and then packed for others."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

from bootstrap.runtime.build import Site, build
from bootstrap.runtime.mark import How, Mark, boot_id, write_mark
from bootstrap.runtime.pack import Spoiled, pack, pack_size, parts
from bootstrap.runtime.prefetch import fetched
from bootstrap.runtime.presets import Preset
from bootstrap.runtime.problem import GIB, check_room, size
from bootstrap.runtime.progress import Progress
from bootstrap.runtime.seal import Seal, digest_of
from bootstrap.runtime.standing import Folders
from bootstrap.runtime.store import PART, RuntimeStore, Stored, StoreError
from bootstrap.runtime.tree import Beat
from bootstrap.runtime.unpack import BadPack, unpack

_SPARE = GIB // 4
"""Room that is left to others."""
_TRIES = 2
"""A pack that reads badly twice is bad; once may be the way."""


@dataclass(frozen=True)
class Limits:
    """In seconds: for a whole build, and for a store that doesn't answer."""

    build_s: float
    patience_s: float


@dataclass(frozen=True)
class Tools:
    """The bucket, where words go, what is called all along (may raise), and locks that commands hold too."""

    store: RuntimeStore | None
    say: Callable[[str], None]
    beat: Beat
    held: tuple[int, ...] = ()


@dataclass(frozen=True)
class Fetch:
    """What came of the bucket: a seal, or nothing and the bad pack that lies there."""

    seal: Seal | None = None
    bad: Stored | None = None


@dataclass
class Obtaining:
    """One runtime being made, under its lock. `seconds` by step, `notes` on what was mended."""

    wanted: Preset
    folders: Folders
    limits: Limits
    tools: Tools
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def obtain(self) -> tuple[How, Mark]:
        """Raises RuntimeProblem, OSError, and what `beat` raises; then nothing half done is left."""
        fetch = self._fetch()
        if fetch.seal:
            return "unpacked", self._finish(fetch.seal, "unpacked")
        seal = self._build()
        mark = self._finish(seal, "built")
        self._keep(seal, fetch.bad)
        return "built", mark

    def keep_if_missing(self, seal: Seal) -> None:
        """For a runtime that was built here by a process that ended before its pack was kept."""
        try:
            missing = self.tools.store is not None and self.tools.store.find(self.wanted.key) is None
        except StoreError as error:
            self.note(f"the pack can't be looked for: {error}")
            return
        if missing:
            self._keep(seal, None)

    def note(self, text: str) -> None:
        """Say it and remember it."""
        self.notes.append(text)
        self.tools.say(text)

    @contextmanager
    def timed(self, step: str) -> Generator[None]:
        """Measure a step."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.seconds[step] = round(self.seconds.get(step, 0.0) + time.monotonic() - began, 3)

    def _fetch(self) -> Fetch:
        store, bad = self.tools.store, None
        if store is None:
            return Fetch()
        for _ in range(_TRIES):
            try:
                stored = store.find(self.wanted.key)
                if stored is None:
                    return Fetch()
                with self._clean_unless_done(), self.timed("unpack"):
                    return Fetch(self._unpack(store, stored))
            except StoreError as error:
                self.note(f"the pack can't be fetched: {error}")
                return Fetch()
            except BadPack as error:
                self.note(f"the pack {self.wanted.key} is bad: {error}")
                bad = stored
        return Fetch(bad=bad)

    def _unpack(self, store: RuntimeStore, stored: Stored) -> Seal:
        self.tools.say(f"unpacking {size(stored.size)} from the bucket")
        progress = Progress(stored.size, self.tools.say, self.tools.beat)

        def read(start: int, count: int) -> bytes:
            return store.read(self.wanted.key, stored, start, count)

        def room(seal: Seal) -> None:
            check_room(self.folders.root, seal.room + _SPARE)

        fetching = fetched(read, stored.size, self.tools.beat, self.limits.patience_s)
        with closing(fetching) as pieces:
            return unpack(pieces, self.folders.work / "tree", self.wanted.id, room, progress)

    def _build(self) -> Seal:
        for folder in (self.folders.root, self.folders.spare):
            check_room(folder, self.wanted.room + _SPARE)
        self.tools.say(f"building it from {self.wanted.lock.count('==')} locked packages")
        site = Site(
            work=self.folders.work,
            final=self.folders.tree,
            scratch=self.folders.scratch,
            limit_s=self.limits.build_s,
            say=self.tools.say,
            beat=self.tools.beat,
            held=self.tools.held,
        )
        with self._clean_unless_done(), self.timed("build"):
            for folder in (site.work, site.scratch):
                folder.mkdir(parents=True, exist_ok=True)
            return build(self.wanted, site)

    def _finish(self, seal: Seal, how: How) -> Mark:
        """The mark comes last; until then there is nothing."""
        mark = Mark(digest_of(seal.to_json()), how, boot_id(), flushed=False)
        (self.folders.work / "tree").rename(self.folders.tree)
        write_mark(self.folders.mark, mark)
        self._clear()
        return mark

    def _keep(self, seal: Seal, bad: Stored | None) -> None:
        """Put the pack where later boots find it. One that can't be kept is no reason to fail this boot."""
        store = self.tools.store
        if store is None:
            return
        total = pack_size(seal)
        self.tools.say(f"packing {size(total)} to {self.wanted.key}")
        progress = Progress(total, self.tools.say, self.tools.beat)
        with self.timed("pack"):
            try:
                pieces = progress.over(pack(self.folders.tree, seal))
                first = store.put(self.wanted.key, parts(pieces, PART), bad)
                self.tools.say("packed" if first else "another node was first; its pack stays")
            except (OSError, Spoiled) as error:
                self.note(f"the pack isn't kept: {error}")

    @contextmanager
    def _clean_unless_done(self) -> Generator[None]:
        try:
            yield
        except BaseException:
            self._clear()
            raise

    def _clear(self) -> None:
        for folder in (self.folders.work, self.folders.scratch):
            shutil.rmtree(folder, ignore_errors=True)
