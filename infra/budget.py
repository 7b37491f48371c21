"""The site's monthly budget, counted by its tag. Billing data lags by hours: it warns and stops nothing.

AWS counts a tag only once it is activated as a cost allocation tag, by hand, in the billing console.
"""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_aws import budgets

from infra.live import LiveSite
from infra.options import SiteContext, child, tags
from nightshift.plan import names
from nightshift.settings.models import Stack

THRESHOLDS: tuple[tuple[str, int], ...] = (("ACTUAL", 80), ("FORECASTED", 100))
"""Kind and per cent of the monthly limit at which a mail goes out."""


@dataclass(frozen=True)
class BudgetSpec:
    """US dollars a month, who hears of it, and the tag that is counted."""

    budget_name: str
    monthly_usd: int
    notify: tuple[str, ...]
    tag_filter: str


def budget_spec(stack: Stack, site: SiteContext) -> BudgetSpec | None:
    """None if the stack file names no budget."""
    wanted = stack.site.budget
    if wanted is None:
        return None
    tag_filter = f"user:{names.TAG_SITE}${site.name}"
    return BudgetSpec(
        names.budget_name(site.name, site.region), wanted.monthly_usd, wanted.notify, tag_filter
    )


class Budget(pulumi.ComponentResource):
    """One AWS budget with its notifications."""

    def __init__(
        self,
        name: str,
        spec: BudgetSpec,
        *,
        site: SiteContext,
        live: LiveSite,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("nightshift:infra:Budget", name, None, opts)
        budgets.Budget(
            f"{name}-budget",
            name=spec.budget_name,
            budget_type="COST",
            limit_amount=str(spec.monthly_usd),
            limit_unit="USD",
            time_unit="MONTHLY",
            cost_filters=[budgets.BudgetCostFilterArgs(name="TagKeyValue", values=[spec.tag_filter])],
            notifications=[_notification(kind, percent, spec.notify) for kind, percent in THRESHOLDS],
            tags=tags(site, "budget"),
            opts=child(self, import_id=live.import_id("budget")),
        )
        self.register_outputs({})


def _notification(kind: str, percent: int, notify: tuple[str, ...]) -> budgets.BudgetNotificationArgs:
    return budgets.BudgetNotificationArgs(
        comparison_operator="GREATER_THAN",
        notification_type=kind,
        threshold=percent,
        threshold_type="PERCENTAGE",
        subscriber_email_addresses=list(notify),
    )
