"""The page of the launch campaign's figures."""

from __future__ import annotations

from typing import Any

HEAD = """# How a job is launched, and what it survives

"""


def page(result: dict[str, Any]) -> str:
    """All of it; what the rules are stands in docs/launch.md."""
    lines = [HEAD, "| event | n | hung | p50 s | p100 s |", "|---|---|---|---|---|"]
    for lane in ("ours", "plain"):
        for event, found in result.get(lane, {}).get("events", {}).items():
            lines.append(
                f"| {lane}: {event} | {found['n']} | {found['hung']} | {found['p50']} | {found['p100']} |"
            )
    return "\n".join(lines) + "\n"
