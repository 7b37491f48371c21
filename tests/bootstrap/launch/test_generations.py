"""The group's agreement: who leads, when a generation is over, who is in the next one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bootstrap.launch.board import LeaseSeen, MemberSeen
from bootstrap.launch.edges import Waits
from bootstrap.launch.generations import Group, Timers, claim, given_up, lead, react
from bootstrap.launch.lease import Lease, Member, dump, load
from tests.bootstrap.launch.support.world import SimNode, World, run, settled

WAITS = Waits(gather_s=60.0, restarts=3)
GROUP = Group(2, 60.0, WAITS)
A = Member("i-a", "1", "run", "10.0.0.1", ready=True)
B = Member("i-b", "1", "run", "10.0.0.2", ready=True)
GATHERING = Lease("i-a", "1", "run", 5, "gathering")
RUNNING = replace(GATHERING, state="running", id="run-5-1", members=(A.key, B.key), best=10)
RUNS_A = replace(A, ready=False, last=5, step=20)
RUNS_B = replace(B, ready=False, last=5, step=20)


def seen(*members: Member, age: float = 1.0) -> list[MemberSeen]:
    return [MemberSeen(member, age) for member in members]


def test_the_first_to_come_leads_and_the_second_follows() -> None:
    first = claim(LeaseSeen(None, None, 0.0), A, GROUP, 0.0)
    assert first == Lease("i-a", "1", "run", 1, "gathering")
    assert claim(LeaseSeen(first, "x", 1.0), B, GROUP, 99.0) is None


def test_a_lost_leaders_lease_is_taken_with_the_next_number_and_what_was_reached() -> None:
    taken = claim(LeaseSeen(RUNNING, "x", 11.0), replace(B, last=5), GROUP, 99.0)
    assert taken is not None
    assert (taken.leader, taken.generation, taken.state, taken.best) == ("i-b", 6, "gathering", 10)
    assert "i-a was lost" in taken.reason


def test_after_an_outage_of_the_board_a_node_that_trains_waits_for_the_leader_to_renew() -> None:
    stale = LeaseSeen(RUNNING, "x", 300.0)
    assert claim(stale, RUNS_B, GROUP, 2.0) is None
    assert claim(stale, RUNS_B, GROUP, 11.0) is not None


def test_a_restarted_leader_takes_its_own_lease_back_at_once() -> None:
    taken = claim(LeaseSeen(RUNNING, "x", 1.0), replace(A, token="2"), GROUP, 0.0)
    assert taken is not None
    assert (taken.token, taken.generation) == ("2", 6)


def test_another_shift_begins_anew_but_counts_on() -> None:
    old = replace(RUNNING, barren=3)
    taken = claim(LeaseSeen(old, "x", 86_400.0), A, GROUP, 0.0)
    assert taken == Lease("i-a", "1", "run", 6, "gathering")


def test_a_run_that_was_just_finished_is_not_begun_again() -> None:
    done = replace(RUNNING, state="over", kind="finished")
    assert claim(LeaseSeen(done, "x", 20.0), replace(B, token="9"), GROUP, 99.0) is None
    assert claim(LeaseSeen(done, "x", 50_000.0), B, GROUP, 99.0) is not None


def test_a_lease_of_another_run_is_respected_while_its_leader_lives() -> None:
    other = replace(RUNNING, run="another")
    assert claim(LeaseSeen(other, "x", 3.0), B, GROUP, 99.0) is None
    assert claim(LeaseSeen(other, "x", 12.0), B, GROUP, 99.0) is not None


def test_what_is_no_lease_is_replaced() -> None:
    assert claim(LeaseSeen(None, "garbage", 3.0), A, GROUP, 0.0) is not None


def test_a_leader_that_leaves_lets_go_and_anyone_may_take_over_at_once() -> None:
    left = given_up(RUNNING)
    assert left.leader == ""
    taken = claim(LeaseSeen(left, "x", 0.0), RUNS_B, GROUP, 0.0)
    assert taken == replace(RUNNING, leader="i-b")


@pytest.mark.parametrize("who", [0, 1])
@pytest.mark.parametrize("saving_s", [1.0, 40.0, 90.0])
def test_who_leaves_takes_no_time_to_save_from_the_others(who: int, saving_s: float) -> None:
    """A leader that had drained once gave its lease up with the next number, and the others were ended
    in the midst of their own saves."""
    world = World()
    nodes = [SimNode(world, f"n{number}", 3, WAITS) for number in range(3)]
    run(world, nodes, 45)
    assert settled(world, nodes) is None
    for number, node in enumerate(nodes):
        node.saving_s = 1.0 if number == who else saving_s
    nodes[who].leave(nodes)
    run(world, nodes, saving_s + 30)
    assert settled(world, nodes) is None, "\n".join(world.said[-20:])
    assert [node.cut_short for node in nodes] == [0, 0, 0]


def test_the_first_generation_waits_for_all_nodes_but_not_for_ever() -> None:
    assert lead(GATHERING, seen(A), A, GROUP, Timers(gathering=59.0)) == GATHERING
    alone = lead(GATHERING, seen(A), A, GROUP, Timers(gathering=61.0))
    assert (alone.state, alone.members) == ("running", (A.key,))
    both = lead(GATHERING, seen(A, B), A, GROUP, Timers())
    assert both.members == (A.key, B.key)
    assert both.id == "run-5-1"


def test_a_node_lost_for_good_is_not_waited_for_and_the_rest_goes_on() -> None:
    lost = replace(RUNS_A, ready=True, verdict="failed", reason="connection reset")
    told = [MemberSeen(lost, 0.0), MemberSeen(RUNS_B, 11.0)]
    after = lead(RUNNING, told, lost, GROUP, Timers(trouble=0.1))
    assert (after.state, after.generation, after.members) == ("running", 6, (A.key,))


def test_who_lives_but_is_not_ready_yet_is_waited_for() -> None:
    gathering = replace(RUNNING, state="gathering", generation=6)
    ready = replace(RUNS_A, ready=True, verdict="lost")
    slow = MemberSeen(RUNS_B, 2.0)
    assert lead(gathering, [*seen(ready), slow], ready, GROUP, Timers(gathering=10.0)) == gathering
    silent = MemberSeen(RUNS_B, 6.0)
    assert lead(gathering, [*seen(ready), silent], ready, GROUP, Timers()).members == (A.key,)
    assert lead(gathering, [*seen(ready), slow], ready, GROUP, Timers(gathering=121.0)).state == "running"


def test_a_generation_that_all_ended_is_followed_by_the_next_at_once() -> None:
    ended = [replace(each, ready=True, verdict="lost") for each in (RUNS_A, RUNS_B)]
    after = lead(RUNNING, seen(*ended), ended[0], GROUP, Timers())
    assert (after.state, after.generation, after.barren, after.best) == ("running", 6, 0, 20)


def test_the_rest_of_a_lost_generation_gets_time_for_its_last_words() -> None:
    lost = replace(RUNS_A, ready=True, verdict="lost")
    assert lead(RUNNING, seen(lost, RUNS_B), lost, GROUP, Timers(trouble=1.0)) == RUNNING
    assert lead(RUNNING, seen(lost, RUNS_B), lost, GROUP, Timers(trouble=6.0)).generation == 6


def test_a_drained_generation_is_not_cut_short_while_others_save() -> None:
    drained = replace(RUNS_A, verdict="drained", agreed=True, leaving=True)
    assert lead(RUNNING, seen(drained, RUNS_B), RUNS_B, GROUP, Timers(trouble=100.0)) == RUNNING
    unbegun = replace(drained, agreed=False)
    assert lead(RUNNING, seen(unbegun, RUNS_B), RUNS_B, GROUP, Timers(trouble=6.0)).generation == 6
    both = seen(drained, replace(RUNS_B, verdict="drained", ready=True))
    after = lead(replace(RUNNING, leader="i-b"), both, replace(RUNS_B, ready=True), GROUP, Timers())
    assert (after.state, after.members, after.barren) == ("running", (B.key,), 0)


def test_launches_in_a_row_without_a_new_step_end_the_run_with_the_reason() -> None:
    lease = replace(RUNNING, best=20)
    ended = [
        replace(each, ready=True, verdict="failed", reason="ValueError: bad") for each in (RUNS_A, RUNS_B)
    ]
    for barren in range(3):
        after = lead(replace(lease, barren=barren), seen(*ended), ended[0], GROUP, Timers())
        assert (after.state, after.barren) == ("running", barren + 1)
    over = lead(replace(lease, barren=3), seen(*ended), ended[0], GROUP, Timers())
    assert (over.state, over.kind, over.step) == ("over", "failed", 20)
    assert "4 launches in a row" in over.reason
    assert "ValueError: bad" in over.reason


def test_one_who_finished_has_finished_for_all() -> None:
    done = replace(RUNS_B, verdict="finished", checkpoint="step-000020")
    over = lead(RUNNING, seen(RUNS_A, done), RUNS_A, GROUP, Timers())
    assert (over.state, over.kind, over.checkpoint) == ("over", "finished", "step-000020")


def test_a_late_node_ends_the_generation_saved_and_joins_the_next() -> None:
    alone = replace(RUNNING, members=(A.key,))
    assert lead(alone, seen(RUNS_A, B), RUNS_A, GROUP, Timers(joiners=0.0)).regroup
    three = Group(3, 60.0, WAITS)
    assert not lead(alone, seen(RUNS_A, B), RUNS_A, three, Timers(joiners=5.0)).regroup
    asked = lead(alone, seen(RUNS_A, B), RUNS_A, three, Timers(joiners=11.0))
    assert asked.regroup
    assert react(asked, RUNS_A, 5) == "regroup"
    drained = replace(RUNS_A, ready=True, verdict="drained")
    after = lead(asked, seen(drained, B), drained, three, Timers())
    assert (after.members, after.regroup, after.barren) == ((A.key, B.key), False, 0)


@pytest.mark.parametrize(
    ("lease", "me", "running", "act"),
    [
        (RUNNING, replace(A, last=4), 0, "launch"),
        (RUNNING, replace(A, last=5), 0, "wait"),
        (RUNNING, replace(A, token="2"), 0, "wait"),
        (RUNNING, replace(A, last=4, leaving=True), 0, "wait"),
        (RUNNING, RUNS_A, 5, "wait"),
        (RUNNING, RUNS_A, 4, "end"),
        (replace(RUNNING, state="gathering", generation=6), RUNS_A, 5, "end"),
        (replace(RUNNING, run="other"), RUNS_A, 5, "wait"),
        (replace(RUNNING, state="over", kind="lost"), RUNS_A, 5, "over"),
    ],
)
def test_what_a_node_does_about_the_lease(lease: Lease, me: Member, running: int, act: str) -> None:
    assert react(lease, me, running) == act


def test_records_survive_the_board_and_others_are_refused() -> None:
    assert load(Lease, dump(RUNNING)) == RUNNING
    assert load(Member, dump(RUNS_B)) == RUNS_B
    assert load(Lease, b"{}") is None
    assert load(Lease, b"not json") is None
    assert load(Member, dump(replace(A, version=2))) is None


@pytest.mark.parametrize("seconds", [30.0, 300.0, 2000.0])
def test_an_outage_of_the_board_ends_no_healthy_run(seconds: float) -> None:
    world = World()
    nodes = [SimNode(world, f"n{number}", 3, WAITS) for number in range(3)]
    run(world, nodes, 45)
    before = dict(world.launched)
    world.cut.update(node.name for node in nodes)
    run(world, nodes, seconds)
    world.cut.clear()
    run(world, nodes[::-1], 60)  # the leader is the last to reach it again
    assert settled(world, nodes) is None
    assert dict(world.launched) == before


EVENTS = st.lists(
    st.tuples(
        st.floats(0.0, 40.0),
        st.sampled_from(["fail", "crash", "restart", "cut", "heal"]),
        st.integers(0, 3),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(EVENTS, st.integers(1, 4))
def test_whatever_happens_the_nodes_that_live_train_together_again(
    events: list[tuple[float, str, int]], size: int
) -> None:
    waits = Waits(gather_s=30.0, restarts=1_000_000)
    world = World()
    nodes = [SimNode(world, f"n{number}", size, waits) for number in range(size)]
    run(world, nodes, 45)
    for after, what, number in events:
        happen(world, nodes[number % size], what)
        run(world, nodes, after)
    world.cut.clear()
    if not any(each.alive for each in nodes):
        nodes[0].boot()
    run(world, nodes, 120)
    assert settled(world, nodes) is None, "\n".join(world.said[-40:])
    before = max(each.steps for each in nodes if each.alive)
    run(world, nodes, 10)
    assert max(each.steps for each in nodes if each.alive) > before
    assert all(len(ids) == 1 for ids in world.launched.values()), world.launched


def happen(world: World, node: SimNode, what: str) -> None:
    if what == "fail":
        node.fail()
    elif what == "crash":
        node.crash()
    elif what == "restart":
        node.boot()
    elif what == "cut":
        world.cut.add(node.name)
    else:
        world.cut.discard(node.name)
