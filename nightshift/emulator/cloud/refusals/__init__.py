"""The table of sourced refusals: what real AWS says no to beyond its model, and moto accepts.

Every row has one test that runs against this server and against plain moto; a row without one fails them."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

from nightshift.emulator.cloud.call import Call
from nightshift.emulator.cloud.refusals.row import Row


@cache
def table() -> tuple[Row, ...]:
    """All rows, in the order in which they are asked."""
    from nightshift.emulator.cloud.refusals import (
        budgets,
        capacity,
        dlm,
        groups,
        hooks,
        iam,
        mixed,
        monitoring,
        schedules,
        storage,
        tags,
        templates,
        volumes,
    )

    modules = (
        schedules,
        hooks,
        groups,
        mixed,
        templates,
        capacity,
        volumes,
        dlm,
        iam,
        storage,
        budgets,
        monitoring,
        tags,
    )
    return tuple(row for module in modules for row in module.ROWS)


@cache
def _index() -> dict[tuple[str, str], list[Row]]:
    index: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in table():
        for operation in row.operations:
            index[(row.service, operation)].append(row)
    return index


def refusal(call: Call) -> tuple[Row, str] | None:
    """The first row that refuses a call, with its message."""
    for row in _index().get((call.service, call.name), ()):
        message = row.refuses(call)
        if message is not None:
            return row, message
    return None
