"""Every kind of fault: what it does, whom it hits, when by default, for how long, and how it must end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Hits = Literal["spot node", "node", "next nodes", "group", "volumes", "action", "calendar"]


@dataclass(frozen=True)
class Kind:
    """`offset_s` after the start of a shift when the name gives none; `lasts_s` its effect, 0 for a moment.

    `ends` says how it must end.
    """

    what: str
    hits: Hits
    offset_s: int
    lasts_s: int
    ends: str


KINDS: Mapping[str, Kind] = {
    "spot": Kind(
        "AWS takes a spot node back, with two minutes' notice",
        "spot node",
        7_200,
        0,
        "everything is saved within the notice, another node goes on",
    ),
    "spot-now": Kind(
        "AWS takes a spot node back without a notice",
        "spot node",
        7_200,
        0,
        "at most one interval between saves is lost, another node goes on",
    ),
    "crash": Kind(
        "the machine of a node dies",
        "node",
        7_200,
        0,
        "at most one interval between saves is lost, another node goes on",
    ),
    "ice": Kind(
        "AWS has no instance to give for two hours",
        "group",
        -300,
        7_200,
        "the group waits without cost and launches once there is capacity",
    ),
    "bad-node": Kind(
        "the next node fails its checks",
        "next nodes",
        -300,
        3_600,
        "it is given back at once, another one gets ready",
    ),
    "boot-fails": Kind(
        "every node fails its checks for two hours",
        "next nodes",
        -300,
        7_200,
        "after three failed boots the alarm takes the group to 0",
    ),
    "imds-lost": Kind(
        "a node's metadata doesn't answer for half an hour",
        "node",
        7_200,
        1_800,
        "a running job goes on, and its node hears of its end from its group; "
        "a node that boots is given up by the hook and replaced",
    ),
    "slow-detach": Kind(
        "EC2 takes 20 minutes to let go of the group's volumes",
        "volumes",
        -600,
        1_800,
        "the next node waits for them, nothing is forced",
    ),
    "kill-agent": Kind(
        "the agent of a node is killed",
        "node",
        7_200,
        30,
        "it is started again; at most one interval between saves is lost",
    ),
    "disk-full": Kind(
        "a node's disk is full for two hours",
        "node",
        7_200,
        7_200,
        "saves fail, what was saved before stays",
    ),
    "network-split": Kind(
        "a node reaches nobody for 20 minutes",
        "node",
        7_200,
        1_200,
        "its job goes on, and what AWS waited for it is done by the hook's default",
    ),
    "api-throttled": Kind(
        "AWS answers a node's calls late for an hour",
        "node",
        -60,
        3_600,
        "everything takes longer, nothing else",
    ),
    "clock-jump": Kind(
        "a node's own clock jumps by an hour",
        "node",
        7_200,
        600,
        "nothing: the calendar is read by AWS's clock",
    ),
    "missed-action": Kind(
        "AWS doesn't fire the group's next scheduled action",
        "action",
        -60,
        0,
        "a missed start costs the shift; after a missed end the node goes by itself",
    ),
    "hold": Kind(
        "an operator holds the group for two days",
        "calendar",
        7_200,
        0,
        "its nodes drain, it comes up with the first shift that starts after that",
    ),
    "wake": Kind(
        "an operator wakes the group for three hours",
        "calendar",
        -14_400,
        0,
        "it is up until then, or to the end of the shift that contains it",
    ),
    "sleep": Kind(
        "an operator puts the group to sleep until its next shift",
        "calendar",
        7_200,
        0,
        "its nodes drain, it comes up with its next shift",
    ),
}
WORDS = ("hold", "wake", "sleep")
"""No faults, but an operator's words among them."""
BOTH_EDGES = ("missed-action", "api-throttled", "slow-detach")
"""Faults around an edge that matter at a shift's end too."""
SLOW_DETACH_S = 1_200
