"""The shipped stacks are sound, lack a real image alone, and cost what their comments and budgets say."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from nightshift.plan.forecast import forecast
from nightshift.settings import read_stack
from nightshift.settings.advice import advice
from nightshift.settings.schema import PATH
from nightshift.settings.to_plan import group_costs, needs_nat, volume_costs

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
NAMES = ("cluster", "lab", "rehearsal", "solo", "team")


def file_of(name: str) -> Path:
    """The shipped stack's file."""
    return PATH.parent / f"Pulumi.{name}.yaml"


def test_these_five_are_shipped() -> None:
    assert tuple(sorted(path.name.split(".")[1] for path in PATH.parent.glob("Pulumi.*.yaml"))) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_it_is_sound_and_all_that_it_lacks_is_a_real_image(name: str) -> None:
    stack = read_stack(file_of(name), NOW)
    assert advice(stack, NOW) == (
        f"site.image: {stack.site.image} stands in for a real AMI; `nightshift pin` proposes one",
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("month", range(1, 13))
def test_a_month_stays_within_its_budget(name: str, month: int) -> None:
    stack = read_stack(file_of(name), NOW)
    bill = forecast(
        group_costs(stack),
        volume_costs(stack),
        region=stack.region,
        year=2027,
        month=month,
        nat=needs_nat(stack),
    )
    assert stack.site.budget is not None
    assert bill.usd <= stack.site.budget.monthly_usd
    assert bill.usd < bill.always_on_usd / 2


@pytest.mark.parametrize("name", NAMES)
def test_editors_find_the_schema(name: str) -> None:
    first = file_of(name).read_text(encoding="utf-8").splitlines()[0]
    assert first == f"# yaml-language-server: $schema={PATH.name}"
