"""People in a drain: told first, their notebooks gone before the volumes, the job none the poorer."""

from __future__ import annotations

import pytest

from bootstrap.drain.budget import share
from bootstrap.drain.volumes import Let
from bootstrap.lifecycle.notice import Notice
from tests.bootstrap.drain.support.world import END, FakeJob, World
from tests.bootstrap.support.rooms import FakePeople


class Watched(FakePeople):
    """Notes how long it may take to end the notebooks, and takes some time."""

    def __init__(self, world: World, takes: float = 0.0) -> None:
        super().__init__(world.did, has_notebooks=True)
        self.world, self.takes, self.limits = world, takes, list[float]()

    def leave(self, text: str) -> None:
        self.did.append("leave")
        super().leave(text)

    def end(self, limit_s: float) -> Let:
        self.limits.append(limit_s)
        self.world.time.sleep(min(limit_s, self.takes))
        return super().end(limit_s)


def test_people_hear_of_it_first_and_their_notebooks_are_gone_before_the_volumes_are() -> None:
    world = World()
    people = Watched(world)
    world.inbox.put(END)
    report = world.run(FakeJob(world.time), people)
    assert world.did[:3] == ["leave", "notebooks", "unmount"]
    assert [step.name for step in report.steps][:4] == ["job", "kill", "notebooks", "unmount"]
    assert people.words == ["what runs here ends within 600 s: the group ends this node"]


def test_notebooks_end_while_the_job_does_and_cost_it_nothing() -> None:
    world = World()
    people = Watched(world, takes=60)
    world.inbox.put(Notice("spot", "taken back", world.time.now + 120))
    report = world.run(FakeJob(world.time, takes=30), people)
    assert report.took("job") == pytest.approx(30, abs=0.2)
    assert people.limits == [1.0], "they had the job's time already"
    assert (report.until("unmount") or 1e9) < 33


def test_without_a_job_they_may_take_what_a_job_may_take_to_be_killed() -> None:
    world = World()
    people = Watched(world)
    world.inbox.put(Notice("spot", "taken back", world.time.now + 120))
    world.run(None, people)
    assert people.limits == [pytest.approx(share(120).kill_s, abs=0.1)]


def test_without_notebooks_there_is_no_such_step() -> None:
    world = World()
    people = Watched(world)
    people.has_notebooks = False
    world.inbox.put(END)
    assert "notebooks" not in [step.name for step in world.run(None, people).steps]
    assert people.words
