"""A stack with many groups, to see how it scales."""

from __future__ import annotations

from tests.engine.support.site import Deployed, Document, changes, succeeded

TURNS = ("tue", "wed", "thu", "fri", "sat")


def many(config: Document, count: int) -> None:
    """`count` groups of one node, each with a volume of its own."""
    config["volumes"] = {f"v{n}": {"size_gib": 10, "snapshots": "nightly"} for n in range(count)}
    config["groups"] = {
        f"g{n}": {
            "tier": ("small", "medium")[n % 2],
            "capacity": ("spot", "on-demand")[n % 2],
            "shifts": [{"days": [TURNS[n % 5]], "from": f"{8 + n % 12:02}:00", "to": "07:00"}],
            "volumes": [f"v{n}"],
        }
        for n in range(count)
    }


def brought_up(site: Deployed, count: int) -> dict[str, float]:
    """Up, again, refresh; seconds of each. The two that follow the first must change nothing."""
    site.edit(lambda config: many(config, count))
    first = site.up()
    assert first.changes["create"] >= 15 * count
    second = site.up()
    assert changes(second) == []
    refresh = succeeded(site.workspace.refresh())
    assert changes(refresh) == []
    return {"up": first.seconds, "second_up": second.seconds, "refresh": refresh.seconds}
