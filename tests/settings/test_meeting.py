"""The short cut that spares most stacks the search for a meeting never hides one."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from nightshift.plan.conflicts import conflicts
from nightshift.settings.group import Group
from nightshift.settings.rules.meeting import findings
from nightshift.settings.scope import Scope
from nightshift.settings.site import Site
from nightshift.settings.to_plan import volume_users

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
SITE = Site.model_validate(
    {"zone": "us-east-1a", "timezone": "Europe/Berlin", "owner": "vision", "image": "ami-0abc0000000000001"}
)
CLOCKS = st.sampled_from(["00:00", "01:30", "02:30", "03:00", "07:00", "12:00", "20:00", "23:59"])
DAYS = st.lists(st.sampled_from(["mon", "wed", "sat", "sun"]), min_size=1, max_size=2, unique=True)
SHIFTS = st.lists(
    st.fixed_dictionaries({"days": DAYS.map(tuple), "from": CLOCKS, "to": CLOCKS}), min_size=1, max_size=2
)


@given(SHIFTS, SHIFTS, st.sampled_from([None, "America/New_York"]))
@settings(max_examples=60, deadline=None)
def test_it_finds_what_the_search_finds(
    one: list[dict[str, object]], two: list[dict[str, object]], zone: str | None
) -> None:
    groups = {
        "one": Group.model_validate({"tier": "small", "volumes": ("runs",), "shifts": tuple(one)}),
        "two": Group.model_validate(
            {"tier": "small", "volumes": ("runs",), "shifts": tuple(two), "timezone": zone}
        ),
    }
    scope = Scope("us-east-1", SITE, {}, {}, groups, frozenset({"runs"}), frozenset())
    found = {problem.says for problem in findings(scope, NOW)}
    assert found == {clash.says for clash in conflicts(volume_users(SITE, groups), NOW)}
