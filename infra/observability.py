"""Who hears what: log group, mail topic, alarms with the switch that stops a group, dashboard.

It starts nothing: only the alarms' policy ever moves a group, and only to 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_aws import autoscaling, cloudwatch, sns

from infra.alarms import AlarmSpec, Metric, group_alarms
from infra.dashboard import DashboardGroup, dashboard_body
from infra.live import LiveSite
from infra.options import SiteContext, child, tags
from nightshift.plan import names
from nightshift.settings.models import Stack


@dataclass(frozen=True)
class ObservabilitySpec:
    """Names, mail addresses, days that logs are kept, and the alarms of each group."""

    log_group_name: str
    log_days: int
    topic_name: str
    mail: tuple[str, ...]
    dashboard_name: str
    alarms: Mapping[str, tuple[AlarmSpec, ...]]


def observability_spec(stack: Stack, site: SiteContext) -> ObservabilitySpec:
    """Mail goes to `site.alerts`, else to those whom the budget names."""
    budget = stack.site.budget
    return ObservabilitySpec(
        log_group_name=names.log_group_name(site.name),
        log_days=stack.site.log_days,
        topic_name=names.topic_name(site.name),
        mail=stack.site.alerts or (budget.notify if budget else ()),
        dashboard_name=names.dashboard_name(site.name, site.region),
        alarms={group: group_alarms(stack, group) for group in sorted(stack.groups)},
    )


class Observability(pulumi.ComponentResource):
    """One log group, topic and dashboard for the site; three alarms and one policy for each group."""

    topic_arn: pulumi.Output[str]
    log_group_name: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        spec: ObservabilitySpec,
        *,
        site: SiteContext,
        live: LiveSite,
        group_names: Mapping[str, pulumi.Input[str]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("nightshift:infra:Observability", name, None, opts)
        self.log_group_name = self._log_group(name, spec, site, live).name
        self.topic_arn = self._topic(name, spec, site, live).arn
        for group, alarms in spec.alarms.items():
            stop = self._stop_policy(f"{name}-{group}", group_names[group])
            for alarm in alarms:
                self._alarm(name, alarm, site, [self.topic_arn, *([stop.arn] if alarm.stops else [])])
        self._dashboard(name, spec, site)
        self.register_outputs({"topic_arn": self.topic_arn, "log_group_name": self.log_group_name})

    def _log_group(
        self, name: str, spec: ObservabilitySpec, site: SiteContext, live: LiveSite
    ) -> cloudwatch.LogGroup:
        return cloudwatch.LogGroup(
            f"{name}-logs",
            name=spec.log_group_name,
            retention_in_days=spec.log_days,
            tags=tags(site, "log-group"),
            opts=child(self, import_id=live.import_id("log-group")),
        )

    def _topic(self, name: str, spec: ObservabilitySpec, site: SiteContext, live: LiveSite) -> sns.Topic:
        topic = sns.Topic(
            f"{name}-topic",
            name=spec.topic_name,
            tags=tags(site, "topic"),
            opts=child(self, import_id=live.import_id("topic")),
        )
        for address in spec.mail:
            sns.TopicSubscription(
                f"{name}-mail-{address}",
                topic=topic.arn,
                protocol="email",
                endpoint=address,
                opts=child(self),
            )
        return topic

    def _stop_policy(self, name: str, group_name: pulumi.Input[str]) -> autoscaling.Policy:
        """To exactly 0, whatever the alarm's reading: an alarm of `stops` must end the billing."""
        step = autoscaling.PolicyStepAdjustmentArgs(metric_interval_lower_bound="0", scaling_adjustment=0)
        return autoscaling.Policy(
            f"{name}-stop",
            name="stop",
            autoscaling_group_name=group_name,
            policy_type="StepScaling",
            adjustment_type="ExactCapacity",
            step_adjustments=[step],
            opts=child(self),
        )

    def _alarm(
        self, name: str, alarm: AlarmSpec, site: SiteContext, actions: list[pulumi.Input[str]]
    ) -> None:
        cloudwatch.MetricAlarm(
            f"{name}-{alarm.part}",
            name=alarm.name,
            alarm_description=alarm.says,
            comparison_operator="GreaterThanOrEqualToThreshold",
            threshold=alarm.threshold,
            evaluation_periods=alarm.periods,
            datapoints_to_alarm=alarm.needed,
            treat_missing_data="notBreaching",
            metric_queries=_queries(alarm),
            alarm_actions=actions,
            tags=tags(site, alarm.part),
            opts=child(self),
        )

    def _dashboard(self, name: str, spec: ObservabilitySpec, site: SiteContext) -> None:
        groups = [
            DashboardGroup(
                group,
                names.group_name(site.name, group),
                tuple(_alarm_arn(site, alarm.name) for alarm in alarms),
            )
            for group, alarms in spec.alarms.items()
        ]
        cloudwatch.Dashboard(
            f"{name}-dashboard",
            dashboard_name=spec.dashboard_name,
            dashboard_body=dashboard_body(site.name, site.region, groups),
            opts=child(self),
        )


def _alarm_arn(site: SiteContext, alarm: str) -> str:
    return f"arn:{site.partition}:cloudwatch:{site.region}:{site.account}:alarm:{alarm}"


def _queries(alarm: AlarmSpec) -> list[cloudwatch.MetricAlarmMetricQueryArgs]:
    """CloudWatch wants exactly one query to return data: the expression, else the only metric."""
    if alarm.expression is None:
        (metric,) = alarm.metrics
        return [_query(metric, alarm.period_s, returned=True)]
    result = cloudwatch.MetricAlarmMetricQueryArgs(
        id="result", expression=alarm.expression, label=alarm.part, return_data=True
    )
    return [result, *(_query(metric, alarm.period_s, returned=False) for metric in alarm.metrics)]


def _query(metric: Metric, period_s: int, *, returned: bool) -> cloudwatch.MetricAlarmMetricQueryArgs:
    return cloudwatch.MetricAlarmMetricQueryArgs(
        id=metric.id,
        return_data=returned,
        metric=cloudwatch.MetricAlarmMetricQueryMetricArgs(
            namespace=metric.namespace,
            metric_name=metric.name,
            period=period_s,
            stat=metric.stat,
            dimensions=metric.dimensions,
        ),
    )
