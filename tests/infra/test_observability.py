"""Who hears what: mails, alarms, and the switch that takes a group to 0."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest

from infra.alarms import BOOT_FAILURES, MOST_DATAPOINTS, AlarmSpec, group_alarms
from infra.dashboard import DashboardGroup, dashboard_body
from infra.live_ec2 import LivePart
from tests.infra.recorder import Recorder
from tests.infra.support.samples import declare, lab, nothing_alive, parts

PENDING = {"AutoScalingGroupName": "nightshift-lab.vit"}


@functools.cache
def deployed() -> Recorder:
    return declare()


def alarm(kind: str) -> dict[str, Any]:
    return deployed().one("MetricAlarm", f"observability-alarm-vit-{kind}").inputs


def spec(kind: str, boot: str = "20m") -> AlarmSpec:
    stack = lab(lambda raw: raw["nightshift:groups"]["vit"].update(boot=boot))
    return next(each for each in group_alarms(stack, "vit") if each.part == f"alarm-vit-{kind}")


def test_logs_are_kept_as_long_as_the_site_says() -> None:
    logs = deployed().one("LogGroup").inputs
    assert (logs["name"], logs["retentionInDays"]) == ("/nightshift/lab", 30)


def test_mail_goes_to_those_of_the_budget_unless_the_site_names_others() -> None:
    assert [each.inputs["endpoint"] for each in deployed().all("TopicSubscription")] == ["lab@example.org"]
    other = declare(lab(lambda raw: raw["nightshift:site"].update(alerts=["a@example.org", "b@example.org"])))
    assert [each.inputs["endpoint"] for each in other.all("TopicSubscription")] == [
        "a@example.org",
        "b@example.org",
    ]
    silent = declare(lab(lambda raw: raw["nightshift:site"].pop("budget")))
    assert silent.all("TopicSubscription") == []


def test_no_capacity_is_fewer_in_service_than_wanted_all_the_time() -> None:
    inputs = alarm("no-capacity")
    assert inputs["name"] == "nightshift-lab.vit-no-capacity"
    assert (inputs["evaluationPeriods"], inputs["datapointsToAlarm"]) == (6, 6)
    assert (inputs["comparisonOperator"], inputs["threshold"]) == ("GreaterThanOrEqualToThreshold", 1)
    assert inputs["treatMissingData"] == "notBreaching"
    result, desired, in_service = inputs["metricQueries"]
    assert (result["expression"], result["returnData"]) == ("desired - in_service", True)
    for query, name in ((desired, "GroupDesiredCapacity"), (in_service, "GroupInServiceInstances")):
        assert query["metric"] == {
            "namespace": "AWS/AutoScaling",
            "metricName": name,
            "period": 300,
            "stat": "Maximum",
            "dimensions": PENDING,
        }


def test_not_ready_is_three_failed_boots_within_an_hour() -> None:
    inputs = alarm("not-ready")
    assert (inputs["threshold"], inputs["evaluationPeriods"]) == (BOOT_FAILURES, 1)
    (query,) = inputs["metricQueries"]
    assert query["returnData"] is True
    assert query["metric"] == {
        "namespace": "Nightshift",
        "metricName": "BootFailed",
        "period": 3_600,
        "stat": "Sum",
        "dimensions": {"Site": "lab", "Group": "vit"},
    }


def test_stuck_is_nodes_billed_and_none_ready_for_longer_than_two_boots() -> None:
    inputs = alarm("stuck")
    result, in_service, pending = inputs["metricQueries"]
    assert result["expression"] == "IF(in_service < 1, pending, 0)"
    assert [each["metric"]["metricName"] for each in (in_service, pending)] == [
        "GroupInServiceInstances",
        "GroupPendingInstances",
    ]
    assert (inputs["evaluationPeriods"], inputs["datapointsToAlarm"]) == (14, 12)


@pytest.mark.parametrize(
    ("boot", "no_capacity", "stuck"), [("5m", 6, 8), ("20m", 6, 14), ("60m", 14, 30), ("2h", 26, 54)]
)
def test_patience_follows_the_longest_boot(boot: str, no_capacity: int, stuck: int) -> None:
    assert (spec("no-capacity", boot).periods, spec("stuck", boot).periods) == (no_capacity, stuck)
    assert spec("stuck", boot).needed * 5 > int(boot[:-1]) * (60 if boot.endswith("h") else 1), (
        "one healthy boot alone must never stop the group"
    )


def test_no_alarm_looks_back_further_than_cloudwatch_does() -> None:
    for boot in ("1m", "120m"):
        assert all(
            each.periods * each.period_s <= 86_400
            for each in group_alarms(
                lab(lambda raw, boot=boot: raw["nightshift:groups"]["vit"].update(boot=boot)), "vit"
            )
        )
    assert MOST_DATAPOINTS * 300 == 86_400


def test_want_of_capacity_mails_and_goes_on_trying_since_waiting_is_free() -> None:
    assert alarm("no-capacity")["alarmActions"] == ["arn:topic"]


@pytest.mark.parametrize("kind", ["not-ready", "stuck"])
def test_nodes_that_never_get_ready_mail_and_stop_their_group(kind: str) -> None:
    assert alarm(kind)["alarmActions"] == ["arn:topic", "arn:policy"]


def test_the_switch_takes_its_own_group_to_exactly_zero() -> None:
    policy = deployed().one("Policy", "observability-vit-stop").inputs
    assert policy == {
        "name": "stop",
        "autoscalingGroupName": "nightshift-lab.vit",
        "policyType": "StepScaling",
        "adjustmentType": "ExactCapacity",
        "stepAdjustments": [{"metricIntervalLowerBound": "0", "scalingAdjustment": 0}],
    }


def test_the_group_reports_every_metric_that_an_alarm_reads() -> None:
    read = {
        query["metric"]["metricName"]
        for each in deployed().all("MetricAlarm")
        for query in each.inputs["metricQueries"]
        if query.get("metric", {}).get("namespace") == "AWS/AutoScaling"
    }
    assert read <= set(deployed().one("Group", "vit-group").inputs["enabledMetrics"])


def test_log_group_and_topic_that_stand_are_taken_over() -> None:
    found = parts(
        LivePart("log-group", "/nightshift/lab", "LogGroup"),
        LivePart("topic", "arn:aws:sns:us-east-1:123456789012:nightshift-lab", "Topic"),
    )
    recorder = declare(live=nothing_alive(parts=found))
    assert recorder.one("LogGroup").request.importId == "/nightshift/lab"
    assert recorder.one("Topic").request.importId.endswith(":nightshift-lab")


def group(number: int) -> DashboardGroup:
    arns = tuple(f"arn:alarm:{number}-{kind}" for kind in range(3))
    return DashboardGroup(f"g{number}", f"nightshift-lab.g{number}", arns)


def widgets(count: int) -> list[dict]:
    return json.loads(dashboard_body("lab", "us-east-1", [group(number) for number in range(count)]))[
        "widgets"
    ]


def test_the_dashboard_shows_alarms_sizes_gpus_and_failed_boots() -> None:
    alarms, sizes, gpus, boots = widgets(1)
    assert alarms["properties"]["alarms"] == ["arn:alarm:0-0", "arn:alarm:0-1", "arn:alarm:0-2"]
    assert sizes["properties"]["metrics"] == [
        ["AWS/AutoScaling", name, "AutoScalingGroupName", "nightshift-lab.g0", {"label": f"g0 {label}"}]
        for name, label in (("GroupDesiredCapacity", "wanted"), ("GroupInServiceInstances", "in service"))
    ]
    for graph, name in ((gpus, "GpuUtilization"), (boots, "BootFailed")):
        assert graph["properties"]["metrics"] == [
            ["Nightshift", name, "Site", "lab", "Group", "g0", {"label": "g0"}]
        ]
    assert boots["properties"]["stat"] == "Sum"


@pytest.mark.parametrize("count", [1, 5, 6, 40, 400])
def test_every_group_is_on_the_dashboard_and_cloudwatch_takes_it(count: int) -> None:
    shown = widgets(count)
    assert len(shown) <= 500
    graphs = [each for each in shown if each["type"] == "metric"]
    lines = [metric for each in graphs for metric in each["properties"]["metrics"]]
    assert len(lines) == 4 * count <= 2_500
    alarms = [arn for each in shown if each["type"] == "alarm" for arn in each["properties"]["alarms"]]
    assert len(alarms) == len(set(alarms)) == 3 * count
    assert max(len(each["properties"].get("alarms", ())) for each in shown) <= 100
