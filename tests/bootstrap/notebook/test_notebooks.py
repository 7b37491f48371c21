"""All notebooks of a node: one start at a time, ended before their volume is, none begun after that."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from bootstrap.notebook.notebooks import Notebooks
from nightshift.records.notebook import Notebook


@dataclass
class FakeServer:
    """Starts when it's told to; ends when it's asked to, unless it's `stubborn`."""

    user: str
    port: int
    stubborn: bool = False
    due: bool = True
    runs: bool = False
    during: Callable[[], None] = lambda: None
    did: list[str] = field(default_factory=list)

    @property
    def record(self) -> Notebook:
        return Notebook(self.user, self.port, "t")

    def look(self) -> None:
        self.did.append("look")

    def start(self) -> None:
        self.during()
        self.due, self.runs = False, True
        self.did.append("start")

    def ask_to_end(self) -> None:
        self.did.append("asked")
        self.runs = self.runs and self.stubborn

    def close(self) -> None:
        self.did.append("close")


@dataclass
class Bench:
    """Notebooks, and who kills them."""

    servers: list[FakeServer]
    killed: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    refused: tuple[Notebook, ...] = ()

    def __post_init__(self) -> None:
        self.all = Notebooks(cast(Any, self.servers), self.kill, self.refused)

    def kill(self, limit_s: float) -> list[int]:
        self.killed.append(limit_s)
        for each in self.servers:
            each.runs = False
        return self.left


def bench(**changes: Any) -> Bench:
    return Bench([FakeServer("ada", 8888), FakeServer("grace", 8889)], **changes)


def test_notebooks_are_started_one_at_a_time() -> None:
    made = bench()
    ada, grace = made.servers
    made.all.look()
    assert (ada.runs, grace.runs) == (True, False)
    made.all.look()
    assert (ada.runs, grace.runs) == (True, True)
    assert ada.did == ["look", "start", "look"]


def test_those_that_are_asked_end_by_themselves_and_what_is_left_is_killed() -> None:
    made = bench()
    made.servers[1].stubborn = True
    made.all.look()
    made.all.look()
    made.all.leave()
    let = made.all.end(0.2)
    assert (let.done, let.says) == (True, "killed: grace")
    assert [each.did[-1] for each in made.servers] == ["close", "close"]
    assert len(made.killed) == 1, "always: somebody may have begun something in a terminal"


def test_a_drain_with_time_waits_no_longer_than_it_must() -> None:
    made = bench()
    made.all.look()
    made.all.leave()
    assert made.all.end(60).says == "ended"
    assert made.killed[0] > 55


def test_what_the_kernel_holds_is_named() -> None:
    made = bench(left=[77])
    made.all.leave()
    let = made.all.end(0.1)
    assert (let.done, let.says) == (False, "the kernel holds 77")


def test_none_is_begun_once_the_node_ends() -> None:
    made = bench()
    made.all.leave()
    made.all.look()
    assert not any(each.runs for each in made.servers)


def test_one_that_is_being_started_while_the_node_ends_is_ended_too_and_nobody_waits_to_ask() -> None:
    made = bench()
    going, on = threading.Event(), threading.Event()

    def slow() -> None:
        going.set()
        assert on.wait(30)

    made.servers[0].during = slow
    thread = threading.Thread(target=made.all.look)
    thread.start()
    assert going.wait(30)
    made.all.leave()
    on.set()
    assert made.all.end(30).says == "ended"
    thread.join(30)
    assert made.servers[0].did == ["look", "start", "asked", "close"]
    assert not made.servers[0].runs


def test_operators_hear_of_all_in_the_order_of_ports_and_why_one_cannot_be() -> None:
    refused = Notebook("edsger", 8887, "", "no login: he has none")
    made = bench(refused=(refused,))
    assert [each.port for each in made.all.records] == [8887, 8888, 8889]
    assert made.all.records[0] == refused
