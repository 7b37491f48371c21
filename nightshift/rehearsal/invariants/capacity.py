"""The capacity equals calendar plus override, two minutes around each edge apart."""

from __future__ import annotations

from nightshift.rehearsal.control.timing import LATE_AT_MOST_S
from nightshift.rehearsal.expect import GroupExpect
from nightshift.rehearsal.invariants.spans import inside

NAME = "capacity-as-planned"
SAYS = (
    "a group is to have as many nodes as its calendar and an operator's word say, within two minutes of each "
    "edge; what an alarm stopped, a finished run released or AWS lost stays as it is until the next shift"
)


def wanted(group: GroupExpect, at: int) -> int:
    """What the calendar says."""
    return group.nodes if inside(group.windows, at) else 0


def broken(group: GroupExpect, desired: int, at: int) -> str | None:
    """What is wrong now: neither what is wanted nor what was wanted two minutes ago."""
    fine = {wanted(group, at), wanted(group, at - LATE_AT_MOST_S)}
    if desired in fine:
        return None
    return f"{group.name} is to have {desired} nodes, its calendar says {wanted(group, at)}"


def broken_service(group: GroupExpect, in_service: int) -> str | None:
    """What is wrong when every boot has had its time and nothing stood in the way."""
    if in_service == group.nodes:
        return None
    return f"{group.name} has {in_service} of {group.nodes} nodes in service after {group.boot_s} s of boot"
