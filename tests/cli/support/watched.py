"""EC2 in whose calls something happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Watched:
    """EC2 with something that happens at a call; all else is moto's."""

    def __init__(self, ec2: Any, **happens: Callable[[dict[str, Any]], Any]) -> None:
        self._ec2, self._happens = ec2, happens

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._ec2, name)
        happens = self._happens.get(name)
        if happens is None:
            return real

        def call(**words: Any) -> Any:
            answer = real(**words)
            changed = happens({"words": words, "answer": answer})
            return answer if changed is None else changed

        return call
