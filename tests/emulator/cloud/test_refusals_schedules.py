"""One test per row: scheduled actions and lifecycle hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.engine
Prove = Callable[[Callable[[Any], Callable[[], object]]], None]


def test_schedule_missing_group(refused: Prove) -> None:
    refused(lambda aws: lambda: aws.schedule("no-such-group", Recurrence="0 20 * * 1", DesiredCapacity=1))


def test_schedule_past_start(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        group = aws.group()
        return lambda: aws.schedule(group, StartTime=aws.soon(hours=-1), DesiredCapacity=1)

    refused(attempt)


def test_schedule_bad_cron(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        group = aws.group()
        return lambda: aws.schedule(group, Recurrence="cron(0 20 ? * MON *)", DesiredCapacity=1)

    refused(attempt)


def test_schedule_bad_zone(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        group = aws.group()
        return lambda: aws.schedule(group, Recurrence="0 20 * * 1", TimeZone="EST", DesiredCapacity=1)

    refused(attempt)


def test_schedule_no_size(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        group = aws.group()
        return lambda: aws.schedule(group, Recurrence="0 20 * * 1")

    refused(attempt)


def test_schedule_min_above_max(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        group = aws.group()
        return lambda: aws.schedule(group, Recurrence="0 20 * * 1", MinSize=2, MaxSize=1)

    refused(attempt)


def test_schedule_desired_outside(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        group = aws.group()
        return lambda: aws.schedule(group, Recurrence="0 20 * * 1", MinSize=1, MaxSize=2, DesiredCapacity=0)

    refused(attempt)


def test_schedule_end_before_start(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        group, start, end = aws.group(), aws.soon(hours=5), aws.soon(hours=4)
        return lambda: aws.schedule(group, StartTime=start, EndTime=end, DesiredCapacity=1)

    refused(attempt)


def test_schedule_more_than_125(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        group = aws.group()
        rows = [
            {"ScheduledActionName": f"a{i}", "Recurrence": f"{i % 60} {i // 60} * * 1", "DesiredCapacity": 1}
            for i in range(125)
        ]
        for first in range(0, 125, 25):
            aws.autoscaling.batch_put_scheduled_update_group_action(
                AutoScalingGroupName=group, ScheduledUpdateGroupActions=rows[first : first + 25]
            )
        return lambda: aws.schedule(group, Recurrence="0 20 * * 2", DesiredCapacity=1)

    refused(attempt)


def test_schedule_same_start(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        group = aws.group()
        aws.schedule(group, Recurrence="0 20 * * 1", TimeZone="Asia/Shanghai", DesiredCapacity=1)
        return lambda: aws.schedule(group, Recurrence="0 12 * * 1", DesiredCapacity=0)

    refused(attempt)


def hook(aws: Any, group: str, **given: Any) -> Callable[[], object]:
    whole = {
        "AutoScalingGroupName": group,
        "LifecycleHookName": aws.name("hook"),
        "LifecycleTransition": "autoscaling:EC2_INSTANCE_LAUNCHING",
        "HeartbeatTimeout": 600,
        **given,
    }
    return lambda: aws.autoscaling.put_lifecycle_hook(**{k: v for k, v in whole.items() if v is not None})


def test_hook_missing_group(refused: Prove) -> None:
    refused(lambda aws: hook(aws, "no-such-group"))


@pytest.mark.parametrize("seconds", [29, 7201], ids=str)
def test_hook_heartbeat_bounds_are_30_and_7200(ours: Any, seconds: int) -> None:
    group = ours.group()
    with pytest.raises(ours.autoscaling.exceptions.ClientError, match="between 30 and 7200"):
        hook(ours, group, HeartbeatTimeout=seconds)()
    hook(ours, group, HeartbeatTimeout=30)()
    hook(ours, group, HeartbeatTimeout=7200)()


def test_hook_heartbeat(refused: Prove) -> None:
    refused(lambda aws: hook(aws, aws.group(), HeartbeatTimeout=999_999))


def test_hook_transition(refused: Prove) -> None:
    refused(lambda aws: hook(aws, aws.group(), LifecycleTransition="autoscaling:EC2_INSTANCE_STARTING"))


def test_hook_result(refused: Prove) -> None:
    refused(lambda aws: hook(aws, aws.group(), DefaultResult="RETRY"))


def test_hook_target_without_role(refused: Prove) -> None:
    topic = "arn:aws:sns:us-east-1:123456789012:nightshift-lab"
    refused(lambda aws: hook(aws, aws.group(), NotificationTargetARN=topic))


def test_hook_more_than_50(refused: Prove) -> None:
    def attempt(aws: Any) -> Callable[[], object]:
        group = aws.group()
        for number in range(50):
            hook(aws, group, LifecycleHookName=f"h{number}")()
        return hook(aws, group, LifecycleHookName="h50")

    refused(attempt)
