"""The budget: this site's tag only, mails at 80 % spent and 100 % foreseen, or none at all."""

from __future__ import annotations

from infra.live_ec2 import LivePart
from tests.infra.support.samples import declare, lab, nothing_alive, parts


def test_a_budget_counts_this_site_s_tag_and_mails_twice() -> None:
    inputs = declare().one("Budget", "budget-budget").inputs
    assert inputs["name"] == "nightshift-lab-us-east-1"
    assert (inputs["budgetType"], inputs["timeUnit"]) == ("COST", "MONTHLY")
    assert (inputs["limitAmount"], inputs["limitUnit"]) == ("600", "USD")
    assert inputs["costFilters"] == [{"name": "TagKeyValue", "values": ["user:nightshift:site$lab"]}]
    assert [
        (each["notificationType"], each["threshold"], each["subscriberEmailAddresses"])
        for each in inputs["notifications"]
    ] == [("ACTUAL", 80, ["lab@example.org"]), ("FORECASTED", 100, ["lab@example.org"])]


def test_no_budget_in_the_file_is_no_budget() -> None:
    recorder = declare(lab(lambda raw: raw["nightshift:site"].pop("budget")))
    assert [each.type for each in recorder.recorded if "udget" in each.type] == []


def test_a_budget_that_stands_is_taken_over() -> None:
    identity = "123456789012:nightshift-lab-us-east-1"
    live = nothing_alive(parts=parts(LivePart("budget", identity, "Budget")))
    assert declare(live=live).one("Budget", "budget-budget").request.importId == identity
