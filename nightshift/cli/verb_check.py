"""Read the stack file and say every problem and warning, in the words that `pulumi up` uses.

Asks AWS nothing and changes nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nightshift.cli.answer import Answer
from nightshift.cli.context import Context
from nightshift.cli.errors import PROBLEM
from nightshift.cli.text import wrap

if TYPE_CHECKING:
    from nightshift.settings.models import Stack


def options(parser: argparse.ArgumentParser) -> None:
    """The verb has none of its own."""
    del parser


def run(args: argparse.Namespace, here: Context) -> Answer:
    """Read the file named or selected."""
    from nightshift.settings import SettingsError, read_stack
    from nightshift.settings.advice import advice

    file = here.file(args.stack)
    try:
        stack = read_stack(file.path, here.now())
    except SettingsError as error:
        return refused(file.name, error.problems)
    return sound(stack, advice(stack, here.now()))


def refused(stack: str, problems: Sequence[str]) -> Answer:
    """Every problem on its own, whole in the data and wrapped in the lines."""
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    lines = [
        f"stack {stack}: {count}, nothing was changed",
        *(line for one in problems for line in wrap(one, 4, "  ")),
    ]
    return Answer(tuple(lines), _data(stack, problems, ()), PROBLEM)


def sound(stack: Stack, warnings: Sequence[str]) -> Answer:
    """What the file declares, and what to think about."""
    parts = [
        _count(len(stack.groups), "group"),
        _count(len(stack.volumes), "volume"),
        _count(len(stack.snapshots), "snapshot policy", "snapshot policies"),
    ]
    lines = [f"stack {stack.name}: fine: {', '.join(parts)} in {stack.site.zone}"]
    lines += [line for one in warnings for line in wrap(f"warning  {one}", 9)]
    return Answer(tuple(lines), _data(stack.name, (), warnings))


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"1 {one}" if number == 1 else f"{number} {many or one + 's'}"


def _data(stack: str, problems: Sequence[str], warnings: Sequence[str]) -> dict[str, object]:
    return {"stack": stack, "problems": list(problems), "warnings": list(warnings)}
