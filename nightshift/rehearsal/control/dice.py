"""Chance that doesn't depend on the order of asking: the same seed and words give the same number.

So a fault left out changes only what it touched, and a failing run can be shrunk.
"""

from __future__ import annotations

from hashlib import blake2b


def chance(seed: int, *words: object) -> float:
    """A number in [0, 1)."""
    digest = blake2b(repr((seed, *words)).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


def between(low: int, high: int, seed: int, *words: object) -> int:
    """A whole number from `low` to `high`, both possible."""
    return low + int(chance(seed, *words) * (high - low + 1))


def pick(choices: int, seed: int, *words: object) -> int:
    """An index below `choices`."""
    return int(chance(seed, *words) * choices)
