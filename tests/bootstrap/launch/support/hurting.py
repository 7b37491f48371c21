"""Each thing that befalls a running job of two nodes, and what must come of it."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable

from nightshift.emulator.sandbox.place import born
from tests.bootstrap.launch.support.cluster import Agent, Cluster, Hung, Place, kill, within
from tests.bootstrap.launch.support.figures import Figures

LIMIT_S = 150.0
ENDS_S = 60.0


class Hurting:
    """Two nodes train together before each event and after it; whatever isn't as it must be is a problem."""

    def __init__(self, cluster: Cluster, figures: Figures, chance: random.Random) -> None:
        self.cluster, self.figures, self.chance = cluster, figures, chance
        self.first, self.second = cluster.places

    def start(self) -> None:
        """Both nodes from nothing to a first step."""
        began = time.time()
        self.cluster.start()
        self.figures.took("launch, cold", self.cluster.new_gang(set(), 2, LIMIT_S).at - began)

    def some(self) -> Place:
        return self.chance.choice(self.cluster.places)

    def other(self, place: Place) -> Place:
        return self.second if place is self.first else self.first

    def worker(self) -> None:
        self._killed("a worker is killed", self.some().workers)

    def torchrun(self) -> None:
        self._killed("torchrun is killed", self.some().torchruns)

    def agent(self) -> None:
        """Ours; systemd would start it again after RestartSec, here it's at once."""
        place = self.some()
        before, gang, at = self._before()
        self._agent(place).process.kill()
        place.start()
        self._back("the node's agent is killed", before, 2, at, gang)

    def node(self) -> None:
        """One that doesn't lead, and comes back."""
        self._lost("a node is lost", self.other(self.cluster.leader()))

    def leader(self, *, back: bool = True) -> None:
        self._lost("the leader is lost", self.cluster.leader(), back=back)

    def notices(self) -> None:
        """While it saves; after its return in the midst of the job's boot; then it comes back to stay."""
        place = self.some()
        before, gang, _ = self._before()
        folder = next((place.root / "data" / "runs" / "checkpoints").iterdir())
        within(LIMIT_S, lambda: next(folder.glob(".saving-*"), None), "a save")
        self._noticed("a notice during a save", place, before, gang, saved=True)
        self._settle()
        before = self.cluster.known()
        agent = place.start()
        within(LIMIT_S, lambda: agent.says("launched here"), "a launch")
        time.sleep(self.chance.uniform(0.0, 1.5))
        self._noticed("a notice during the job's boot", place, before, [], saved=True)
        self._settle()
        self._joins(place)

    def _killed(self, event: str, find: Callable[[], list[int]]) -> None:
        before, gang, _ = self._before()
        victim = within(10, lambda: next(iter(find()), None), "a victim")
        at = time.time()
        kill(victim)
        self._back(event, before, 2, at, gang)

    def _lost(self, event: str, place: Place, *, back: bool = True) -> None:
        before, gang, at = self._before()
        place.crash()
        self._back(event, before, 1, at, gang)
        if not back:
            return
        self._settle()
        before, at = self.cluster.known(), time.time()
        place.boot()
        self._back("a late node joins", before, 2, at, [])

    def _joins(self, place: Place) -> None:
        before, at = self.cluster.known(), time.time()
        place.start()
        self._back("a late node joins", before, 2, at, [])

    def _noticed(
        self,
        event: str,
        place: Place,
        before: set[tuple[int, int]],
        gang: list[tuple[int, str | None]],
        saved: bool,
    ) -> None:
        """The node's part ends, saved; the other goes on alone."""
        agent, at = self._agent(place), time.time()
        agent.process.send_signal(signal.SIGTERM)
        ended = within(ENDS_S, lambda: agent.ended, f"{event}: the end")
        agent.process.wait(10)
        self.figures.took(f"{event}: until nothing of it runs", time.time() - at)
        if (ended["kind"], ended["saved"]) != ("drained", saved) or place.pids():
            self.figures.problem(f"{event}: {ended}, left {place.pids()}")
        self._back(f"{event}: the other goes on", before, 1, at, gang)

    def _before(self) -> tuple[set[tuple[int, int]], list[tuple[int, str | None]], float]:
        """A moment of a running job; who trained so far; the processes of its gang."""
        self._settle()
        pids = [pid for place in self.cluster.places if place.node.up for pid in place._gang()]
        return self.cluster.known(), [(pid, born(pid)) for pid in pids], time.time()

    def _settle(self) -> None:
        time.sleep(self.chance.uniform(0.8, 2.0))

    def _back(
        self,
        event: str,
        before: set[tuple[int, int]],
        world: int,
        at: float,
        gang: list[tuple[int, str | None]],
    ) -> None:
        """A new gang of this size trains, and no process of the old one is left."""
        try:
            step = self.cluster.new_gang(before, world, LIMIT_S)
        except Hung as error:
            self.figures.hang(event, str(error))
            self.figures.problem(f"{event}: hung; {self._last_words()}")
            raise
        self.figures.took(event, step.at - at)
        left = [pid for pid, birth in gang if birth is not None and born(pid) == birth]
        if left:
            self.figures.problem(f"{event}: processes of before are left: {left}")

    def _last_words(self) -> str:
        return " | ".join(
            str([each.get("says") for each in place.agent.told[-4:]])
            for place in self.cluster.places
            if place.agent is not None
        )

    def _agent(self, place: Place) -> Agent:
        assert place.agent is not None
        return place.agent
