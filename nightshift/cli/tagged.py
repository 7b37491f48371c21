"""Resources by the exact value of a tag: EC2's filters read `*`, `?` and a backslash as more than letters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


def filters(wanted: Mapping[str, str]) -> list[dict[str, object]]:
    """What lets those through that bear all these tags, letter by letter (EC2 API, "Filtering")."""
    return [{"Name": f"tag:{key}", "Values": [_plain(value)]} for key, value in wanted.items()]


def _plain(value: str) -> str:
    return re.sub(r"([\\*?])", r"\\\1", value)


def tags_of(raw: Mapping[str, Any]) -> dict[str, str]:
    """`Tags` as a dict."""
    return {str(tag["Key"]): str(tag["Value"]) for tag in raw.get("Tags", ())}


def bears(raw: Mapping[str, Any], wanted: Mapping[str, str]) -> bool:
    """Whether an answer's resource has all these tags: what is deleted is never left to a filter alone."""
    return wanted.items() <= tags_of(raw).items()
