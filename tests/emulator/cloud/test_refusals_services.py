"""One test per row: snapshot policies, budgets, buckets, topics, alarms, dashboards, log groups."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.engine
Prove = Callable[[Callable[[Any], Callable[[], object]]], None]


def schedule(name: str = "nightly", **given: Any) -> dict[str, Any]:
    rule = {"Interval": 24, "IntervalUnit": "HOURS", "Times": ["07:00"]}
    return {"Name": name, "CreateRule": rule, "RetainRule": {"Count": 7}} | given


def policy(aws: Any, *schedules: dict[str, Any], **given: Any) -> Callable[[], Any]:
    details = {
        "ResourceTypes": ["VOLUME"],
        "TargetTags": [{"Key": "nightshift:snapshots", "Value": "lab.nightly"}],
        "Schedules": list(schedules) or [schedule()],
    } | given.pop("details", {})
    whole = {"Description": "nightly", "State": "ENABLED", "PolicyDetails": details} | given
    whole.setdefault("ExecutionRoleArn", aws.role("dlm.amazonaws.com"))
    return lambda: aws.dlm.create_lifecycle_policy(**whole)


def test_dlm_no_target_tags(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        details = {"ResourceTypes": ["VOLUME"], "Schedules": [schedule()]}
        role = aws.role("dlm.amazonaws.com")
        return lambda: aws.dlm.create_lifecycle_policy(
            Description="nightly", State="ENABLED", PolicyDetails=details, ExecutionRoleArn=role
        )

    refused(attempt)


def test_dlm_interval(refused: Prove) -> None:
    refused(lambda aws: policy(aws, schedule(CreateRule={"Interval": 5, "IntervalUnit": "HOURS"})))


def test_dlm_one_rule(refused: Prove) -> None:
    rule = {"Interval": 24, "IntervalUnit": "HOURS", "CronExpression": "cron(0 7 ? * MON *)"}
    refused(lambda aws: policy(aws, schedule(CreateRule=rule)))


def test_dlm_cron(refused: Prove) -> None:
    refused(lambda aws: policy(aws, schedule(CreateRule={"CronExpression": "cron(0 7 * * MON *)"})))


def test_dlm_retain(refused: Prove) -> None:
    refused(lambda aws: policy(aws, schedule(RetainRule={"Count": 0})))


def test_dlm_names(refused: Prove) -> None:
    refused(lambda aws: policy(aws, schedule(), schedule()))


def test_dlm_role(refused: Prove) -> None:
    refused(lambda aws: policy(aws, ExecutionRoleArn="arn:aws:iam::123456789012:role/no-such-role"))


def test_dlm_more_than_100(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        make = policy(aws)
        there = len(aws.dlm.get_lifecycle_policies()["Policies"])
        ids = [make()["PolicyId"] for _ in range(100 - there)]

        def one_more() -> None:
            try:
                make()
            finally:
                for one in ids:
                    aws.dlm.delete_lifecycle_policy(PolicyId=one)

        return one_more

    refused(attempt)


def budget(aws: Any, *notifications: dict[str, Any], **given: Any) -> Callable[[], object]:
    limit = {"Amount": "600", "Unit": "USD"}
    whole = {
        "BudgetName": aws.name("budget"),
        "BudgetType": "COST",
        "TimeUnit": "MONTHLY",
        "BudgetLimit": limit,
    }
    return lambda: aws.budgets.create_budget(
        AccountId="123456789012", Budget=whole | given, NotificationsWithSubscribers=list(notifications)
    )


def notification(*subscribers: tuple[str, str]) -> dict[str, Any]:
    one = {"NotificationType": "ACTUAL", "ComparisonOperator": "GREATER_THAN", "Threshold": 80.0}
    rows = [{"SubscriptionType": kind, "Address": address} for kind, address in subscribers]
    return {"Notification": one, "Subscribers": rows or [{"SubscriptionType": "EMAIL", "Address": "a@b.org"}]}


def test_budget_amount(refused: Prove) -> None:
    refused(lambda aws: budget(aws, BudgetLimit={"Amount": "0", "Unit": "USD"}))


def test_budget_subscribers(refused: Prove) -> None:
    topics = [("SNS", f"arn:aws:sns:us-east-1:123456789012:t{i}") for i in range(2)]
    refused(lambda aws: budget(aws, notification(*topics)))


def test_budget_same_notification(refused: Prove) -> None:
    refused(lambda aws: budget(aws, notification(), notification()))


def test_budget_period(refused: Prove) -> None:
    refused(lambda aws: budget(aws, TimePeriod={"Start": aws.soon(days=40), "End": aws.soon(days=30)}))


def test_s3_bucket_name(refused: Prove) -> None:
    refused(lambda aws: lambda: aws.s3.create_bucket(Bucket="xn--nightshift-lab"))


def subscription(protocol: str, endpoint: str) -> Callable[[Any], Callable[[], object]]:
    def attempt(aws: Any) -> Callable[[], object]:
        topic = aws.sns.create_topic(Name=aws.name("topic"))["TopicArn"]
        return lambda: aws.sns.subscribe(TopicArn=topic, Protocol=protocol, Endpoint=endpoint)

    return attempt


def test_sns_protocol(refused: Prove) -> None:
    refused(subscription("pager", "lab@example.org"))


def test_sns_email(refused: Prove) -> None:
    refused(subscription("email", "lab"))


def alarm(**given: Any) -> Callable[[Any], Callable[[], object]]:
    whole: dict[str, Any] = {
        "Namespace": "Nightshift",
        "MetricName": "BootFailed",
        "Statistic": "Sum",
        "Period": 300,
        "EvaluationPeriods": 1,
        "Threshold": 3.0,
        "ComparisonOperator": "GreaterThanThreshold",
    } | given
    whole = {key: value for key, value in whole.items() if value is not None}
    return lambda aws: lambda: aws.cloudwatch.put_metric_alarm(AlarmName=aws.name("alarm"), **whole)


def query(name: str, **given: Any) -> dict[str, Any]:
    metric = {"Namespace": "AWS/AutoScaling", "MetricName": "GroupDesiredCapacity"}
    return {"Id": name, "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Maximum"}} | given


SINGLE = {"Namespace": None, "MetricName": None, "Statistic": None, "Period": None}


def test_alarm_source(refused: Prove) -> None:
    refused(alarm(**SINGLE))


def test_alarm_returned(refused: Prove) -> None:
    refused(alarm(**SINGLE, Metrics=[query("a"), query("b")]))


def test_alarm_ids(refused: Prove) -> None:
    refused(alarm(**SINGLE, Metrics=[query("a"), query("a", ReturnData=False)]))


def test_alarm_period(refused: Prove) -> None:
    refused(alarm(Period=90))


def test_alarm_datapoints(refused: Prove) -> None:
    refused(alarm(EvaluationPeriods=2, DatapointsToAlarm=3))


def test_alarm_span(refused: Prove) -> None:
    refused(alarm(Period=86_400, EvaluationPeriods=8))


def test_dashboard_body(refused: Prove) -> None:
    body = json.dumps({"widgets": {}})
    refused(
        lambda aws: lambda: aws.cloudwatch.put_dashboard(DashboardName=aws.name("board"), DashboardBody=body)
    )


def test_log_retention(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        name = "/nightshift/" + aws.name("site")
        aws.logs.create_log_group(logGroupName=name)
        return lambda: aws.logs.put_retention_policy(logGroupName=name, retentionInDays=42)

    refused(attempt)
