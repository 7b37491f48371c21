"""Which volume to take next, and that no two nodes can ever wait for each other."""

from __future__ import annotations

import random
from collections.abc import Generator
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.manifest import BootVolume
from bootstrap.storage import claim
from bootstrap.storage.claim import claim_all
from bootstrap.storage.order import DEVICE_NAMES, LiveVolume, decide, free_device, judge_refusal
from bootstrap.storage.place import Place, Waits
from bootstrap.storage.waiting import Clock
from tests.bootstrap.storage.support.bench import wish
from tests.bootstrap.storage.support.fake_aws import FakeAws, Site, available, refused

ME, ZONE = "i-0me", "us-east-1a"
RUNS = available("runs", "vol-1")


def held(volume: LiveVolume, holder: str, holding: str = "attached") -> LiveVolume:
    return replace(volume, state="in-use", holder=holder, holding=holding)


@pytest.mark.parametrize(
    ("live", "kind", "words"),
    [
        ([RUNS], "attach", "free"),
        ([held(RUNS, ME)], "have", "attached to this node"),
        ([held(RUNS, ME, "attaching")], "coming", "attaching"),
        ([held(RUNS, ME, "detaching")], "wait", "detaching"),
        ([held(RUNS, "i-0other")], "wait", "held by i-0other"),
        ([replace(RUNS, state="creating")], "wait", "creating"),
        ([replace(RUNS, state="error")], "refuse", "error"),
        ([], "refuse", "no volume of that name"),
        ([RUNS, replace(RUNS, id="vol-2")], "refuse", "vol-1, vol-2"),
        ([replace(RUNS, zone="us-east-1b")], "refuse", "this node is in us-east-1a"),
        ([replace(RUNS, index=0)], "refuse", "of the other kind"),
        ([replace(RUNS, name="imagenet")], "refuse", "no volume of that name"),
    ],
)
def test_the_next_move_follows_from_one_look(live: list[LiveVolume], kind: str, words: str) -> None:
    move = decide(wish("runs"), live, ME, ZONE)
    assert move.kind == kind
    assert words in move.says


def test_a_pool_gives_its_first_free_volume_and_the_own_one_before_all() -> None:
    pool = [available("scratch", f"vol-{index}", index) for index in range(12)]
    wanted = wish("scratch", per="node")
    taken = [held(pool[0], "i-0other"), *pool[1:]]
    random.Random(1).shuffle(taken)
    move = decide(wanted, taken, ME, ZONE)
    assert move.volume == pool[1]
    mine = [each if each.index != 7 else held(each, ME) for each in taken]
    assert decide(wanted, mine, ME, ZONE).kind == "have"
    assert decide(wanted, [held(each, "i-0other") for each in pool], ME, ZONE).kind == "wait"


def test_device_names_are_the_eleven_that_ec2_recommends() -> None:
    assert free_device({"/dev/sda1", "/dev/sdf"}) == "/dev/sdg"
    assert free_device(DEVICE_NAMES) is None


@pytest.mark.parametrize(
    ("code", "message", "answer"),
    [
        ("VolumeInUse", "", "look-again"),
        ("IncorrectState", "", "look-again"),
        ("", "connection reset", "look-again"),
        ("InvalidParameterValue", "Attachment point /dev/sdf is already in use", "look-again"),
        ("InvalidParameterValue", "something else", "fatal"),
        ("UnauthorizedOperation", "", "denied"),
        ("AttachmentLimitExceeded", "", "fatal"),
        ("InvalidVolume.ZoneMismatch", "", "fatal"),
        ("SomethingNew", "", "fatal"),
    ],
)
def test_a_refusal_is_worth_another_look_or_final(code: str, message: str, answer: str) -> None:
    assert judge_refusal(code, message) == answer


@dataclass
class Time:
    """A clock that only sleeping moves."""

    now_s: float = 0

    def clock(self) -> Clock:
        def sleep(seconds: float) -> None:
            self.now_s += max(seconds, 0.001)

        return Clock(lambda: self.now_s, sleep)


def place(time: Time, **waits: float) -> Place:
    return Place(ME, ZONE, waits=replace(Waits(), **waits), clock=time.clock())


def test_lost_races_are_retried_until_the_claims_own_deadline() -> None:
    aws = FakeAws(Site.of(RUNS), ME, refusals=[refused("VolumeInUse"), refused("IncorrectState")])
    claims = claim_all([wish("runs")], aws, place(Time()))
    assert claims.problem is None
    aws = FakeAws(Site.of(RUNS), ME, refusals=[refused("VolumeInUse")] * 1000)
    time = Time()
    claims = claim_all([wish("runs")], aws, place(time, claim_s=30))
    assert claims.problem is not None
    assert 30 <= time.now_s < 35


def test_denials_are_borne_while_iam_may_still_be_inconsistent_and_no_longer() -> None:
    for tries, fine in ((30, True), (100, False)):
        aws = FakeAws(Site.of(RUNS), ME, refusals=[refused("UnauthorizedOperation", "no")] * tries)
        claims = claim_all([wish("runs")], aws, place(Time(), denied_s=120, poll_s=2))
        assert (claims.problem is None) == fine


def test_a_final_refusal_ends_the_claim_at_once_and_keeps_what_was_claimed_for_the_caller() -> None:
    aws = FakeAws(Site.of(RUNS, available("data", "vol-0")), ME)
    held_by_other = held(RUNS, "i-0other")
    aws.site.volumes["vol-1"] = replace(held_by_other, state="error", holder="", holding="")
    time = Time()
    claims = claim_all([wish("runs"), wish("data")], aws, place(time))
    assert [each.volume.id for each in claims.held] == ["vol-0"]
    assert claims.problem is not None
    assert time.now_s < 1


def test_an_attachment_that_never_ends_has_its_own_deadline() -> None:
    aws = FakeAws(Site.of(held(RUNS, ME, "attaching")), ME)
    time = Time()
    claims = claim_all([wish("runs")], aws, place(time, attach_s=10))
    assert claims.problem is not None
    assert "attached within 10 s" in str(claims.problem)
    assert 10 <= time.now_s < 15


def taking(site: Site, node: str, wishes: list[BootVolume]) -> Generator[None]:
    """One node's claims, a call at a time, then letting go; in the order that claim_order gives."""
    aws = FakeAws(site, node)
    mine = []
    for wanted in claim.claim_order(wishes):
        while True:
            move = decide(wanted, aws.site_volumes([wanted.name]), node, ZONE)
            yield
            if move.kind == "attach" and move.volume is not None:
                try:
                    aws.attach_volume(move.volume.id, "")
                except Exception:
                    continue
                mine.append(move.volume.id)
            if move.kind == "have":
                break
            yield
    for each in reversed(mine):
        yield
        aws.detach_volume(each)


def interleaved(names: list[list[str]], chance: random.Random) -> bool:
    """Whether all nodes come to an end when their calls are interleaved by chance."""
    every = sorted({name for each in names for name in each})
    site = Site.of(*(available(name, f"vol-{name}") for name in every))
    nodes = [taking(site, f"i-{number}", [wish(name) for name in each]) for number, each in enumerate(names)]
    for _ in range(5000):
        if not nodes:
            return True
        node = chance.choice(nodes)
        try:
            next(node)
        except StopIteration:
            nodes.remove(node)
    return False


@given(
    st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True), min_size=2, max_size=4),
    st.randoms(use_true_random=False),
)
def test_nodes_with_any_wishes_all_come_to_an_end_whatever_the_interleaving(
    names: list[list[str]], chance: random.Random
) -> None:
    assert interleaved(names, chance)


def test_without_the_one_order_they_would_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claim, "claim_order", tuple)
    ends = [interleaved([["a", "b"], ["b", "a"]], random.Random(seed)) for seed in range(40)]
    assert not all(ends)
