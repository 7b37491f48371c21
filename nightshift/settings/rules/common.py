"""What several rules need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nightshift.catalog.suggest import closest
from nightshift.settings.problem import Problem, Step, shown


def repeated(path: tuple[Step, ...], values: Sequence[str], what: str) -> Iterator[Problem]:
    """A finding at each value of the list that stood in it before."""
    first: dict[str, int] = {}
    for index, value in enumerate(values):
        if value in first:
            yield Problem(
                (*path, index), f"{what} {shown(value)} stands twice, first at [{first[value]}]; take one out"
            )
        first.setdefault(value, index)


def no_such(what: str, name: str, known: Sequence[str], where: str) -> str:
    """What to say of a name that nothing in the file declares."""
    close, given = closest(name, known), shown(name)
    if close:
        return f"given {given}, but {where} has no such {what}; did you mean {shown(close)}?"
    if not known:
        return f"given {given}, but {where} names no {what}; declare it there or take it out here"
    listed = ", ".join(one if one.isprintable() else shown(one) for one in sorted(known)[:12])
    return f"given {given}, but {where} has no such {what}; it has {listed}"
