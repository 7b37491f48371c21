"""Who this node is, and whether its zone, its clock and its name are right."""

from __future__ import annotations

import re

from bootstrap.readiness.check import Check, Result, decided, good, not_asked
from bootstrap.readiness.commands import Command, whole
from bootstrap.readiness.expectation import Expectation
from bootstrap.readiness.read_system import clock_synchronized
from bootstrap.readiness.reading import Unreadable, matched
from bootstrap.readiness.situation import Situation

CLOCK_TRIES, CLOCK_PAUSE_S = 12, 5.0
"""A minute: chrony steps the clock within seconds of the network being up."""
_ADDRESS = re.compile(r"(\d+\.\d+\.\d+\.\d+)\s+(?:STREAM|DGRAM|RAW)\b.*")
NO_GROUP = "no group's manifest here"


def kind(situation: Situation, expected: Expectation) -> Result:
    """Comes after `expectation`, which refuses what the catalog doesn't know."""
    if expected.kind is None:
        return not_asked("not an EC2 instance; the machine's own cards say what it is")
    node = expected.kind
    told = f"{expected.cards} x {node.gpu_model}"
    return good("a type of the GPU catalog and of the group", f"{node.name}, {told}")


def zone(situation: Situation, expected: Expectation) -> Result:
    """Volumes and EFA neighbours are in the group's zone alone."""
    if situation.manifest is None or situation.instance is None:
        return not_asked(NO_GROUP)
    wanted, found = situation.manifest.zone, situation.instance.zone
    return decided(wanted == found, wanted, found, "run `pulumi up`: the group's subnet is in another zone")


def clock(situation: Situation, expected: Expectation) -> Result:
    """Shifts, leases and AWS's signatures need the right time."""
    if situation.manifest is None:
        return not_asked(NO_GROUP)
    if not expected.wants_gpu:
        return not_asked("a rehearsal shares its host's clock")
    for _ in range(CLOCK_TRIES):
        if clock_synchronized(situation, anew=True):
            return good("synchronized", "synchronized")
        situation.sleep(CLOCK_PAUSE_S)
    waited = f"not synchronized after {CLOCK_TRIES * CLOCK_PAUSE_S:g} s"
    return Result(False, "synchronized", waited, "see `chronyc sources`; 169.254.169.123 must answer")


def _lookup(name: str) -> Command:
    return whole(("getent", "ahostsv4", name))


def name(situation: Situation, expected: Expectation) -> Result:
    """Between nodes, gloo binds to what the own name resolves to."""
    if expected.nodes < 2:
        return not_asked("the group has one node")
    own = situation.read("/proc/sys/kernel/hostname").strip()
    lines = situation.ask(_lookup(own)).splitlines()
    found = sorted({matched("getent ahostsv4", _ADDRESS, line)[1] for line in lines})
    if not found:
        raise Unreadable("getent ahostsv4", f"no address for {own}")
    inward = [address for address in found if address.startswith("127.")]
    return decided(
        not inward,
        f"{own} resolves to the node's own address",
        ", ".join(found),
        f"take the 127.* line of {own} out of /etc/hosts",
    )


CHECKS = (
    Check("identity.type", kind, "a known type", "see the text"),
    Check("identity.zone", zone, "the group's zone", "see the text"),
    Check("identity.clock", clock, "synchronized", "install and start chrony"),
    Check("identity.name", name, "the own name resolves", "let the subnet's DNS answer for the node's name"),
)
