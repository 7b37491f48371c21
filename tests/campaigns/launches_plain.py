"""Plain torchrun's part of the launch campaign (see launches): its best configuration, and its own."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from tests.bootstrap.launch.support.cluster import Hung, kill, within
from tests.bootstrap.launch.support.figures import Figures
from tests.bootstrap.launch.support.plain import PlainPair, plain_pair

LIMIT_S = 150.0
READY_S = 240.0
"""For both nodes together before a trial: what takes longer isn't counted, and everything begins anew."""
HOST_DOWN_S = 5.0
"""How long the rendezvous' host stays away: without it nobody can go on."""
FEW = 4
"""Events of one round in this many: those that take long or may hang."""


class Trial:
    """One pair of nodes, hurt; after a hang all is started anew."""

    def __init__(self, pair: PlainPair, figures: Figures, chance: random.Random, name: str) -> None:
        self.pair, self.figures, self.chance, self.name = pair, figures, chance, name

    def play(self, event: str, hurt: Callable[[], None]) -> None:
        """From a pair that trains to a first step of new processes."""
        self._ready()
        before, at = self.pair.known(), time.time()
        hurt()
        words = f"{self.name}: {event}"
        try:
            self.figures.took(words, self.pair.new_gang(before, LIMIT_S).at - at)
        except Hung as error:
            self.figures.hang(words, str(error))
            self.pair.again()

    def _ready(self) -> None:
        for _ in range(3):
            try:
                self.pair.whole(READY_S)
                time.sleep(self.chance.uniform(0.5, 1.5))
                return
            except Hung:
                self.figures.counts[f"{self.name}: didn't come together again, started anew"] += 1
                self.pair.again()
        raise Hung(f"{self.name}: never two together")

    def worker(self) -> None:
        place = self.chance.choice(self.pair.places)
        kill(within(10, lambda: next(iter(place.workers()), None), "a worker"))

    def torchrun(self) -> None:
        """The one that isn't the rendezvous' host."""
        place = self.pair.places[1]
        kill(within(10, lambda: next(iter(place.torchruns()), None), "torchrun"))

    def node(self) -> None:
        self.pair.places[1].crash()

    def node_back(self) -> None:
        """After `node`: how long until both train together."""
        at = time.time()
        before = self.pair.known()
        self.pair.places[1].start()
        words = f"{self.name}: a late node joins"
        try:
            self.figures.took(words, self.pair.new_gang(before, LIMIT_S, world=2).at - at)
        except Hung as error:
            self.figures.hang(words, str(error))
            self.pair.again()

    def host(self) -> None:
        self.pair.places[0].crash()
        time.sleep(HOST_DOWN_S)
        self.pair.places[0].start()


def main(file: str, rounds: str, limit_s: str, seed: str) -> None:
    """The best configuration first; its own default with a fraction of the rounds."""
    figures, chance, limit = Figures(Path(file)), random.Random(int(seed)), float(limit_s)
    with _started(figures, chance, "best") as trial:
        for number in range(int(rounds)):
            if figures.passed_s > 0.75 * limit:
                break
            trial.play("a worker is killed", trial.worker)
            if number % FEW == 0:
                trial.play("torchrun is killed", trial.torchrun)
                trial.play("a node is lost", trial.node)
                trial.node_back()
                trial.play("the host is lost and back", trial.host)
            figures.write()
    with _started(figures, chance, "default") as trial:
        for _ in range(max(1, int(rounds) // FEW)):
            if figures.passed_s > limit:
                break
            trial.play("a worker is killed", trial.worker)
            figures.write()
    figures.write()


@contextmanager
def _started(figures: Figures, chance: random.Random, name: str) -> Generator[Trial]:
    """A pair in a folder of its own, both loops running."""
    with (
        tempfile.TemporaryDirectory(prefix="plain-", ignore_cleanup_errors=True) as root,
        plain_pair(Path(root), best=name == "best") as pair,
    ):
        for place in pair.places:
            place.start()
        yield Trial(pair, figures, chance, name)


if __name__ == "__main__":
    main(*sys.argv[1:])
