"""The shipped stacks as settings."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import yaml

from nightshift.settings import Stack, from_config
from nightshift.settings.document import full_key

ROOT = Path(__file__).parents[3]


@lru_cache(maxsize=8)
def shipped(name: str) -> Stack:
    """A stack as it ships."""
    config = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{name}.yaml").read_text(encoding="utf-8"))["config"]
    return from_config({full_key(key): value for key, value in config.items()}, name)
