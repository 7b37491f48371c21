"""One finding: where in the stack file, and what there is to say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

Step = str | int
_SHOWN = 60
"""Characters of a given text that are repeated to the user."""


class Problem(NamedTuple):
    """A path into the stack file and one line about it."""

    path: tuple[Step, ...]
    says: str

    def line(self) -> str:
        """The line as a person reads it."""
        return f"{dotted(self.path)}: {self.says}"


def dotted(path: Sequence[Step]) -> str:
    """`groups.vit.shifts[0].to`; the region and the name go by the words that a user knows."""
    if tuple(path) == ("region",):
        return "aws:region"
    if tuple(path) == ("name",):
        return "stack name"
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{_key(step)}" for step in path)
    return text.removeprefix(".")


def _key(step: str) -> str:
    plain = step.replace("_", "").replace("-", "")
    return step if plain.isascii() and plain.isalnum() else shown(step)


def shown(value: object) -> str:
    """A given value, short; never what is in lists and mappings, which may hold anything."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        cut = value if len(value) <= _SHOWN else value[: _SHOWN - 3] + "..."
        return json.dumps(cut, ensure_ascii=not cut.isprintable())
    if isinstance(value, Mapping):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    text = str(value).lower() if isinstance(value, bool | float) else str(value)
    return text if len(text) <= _SHOWN else f"a number of {len(text)} digits"
