"""The scheduled actions of one group. They move the desired size only; every size is always sent.

An action is never updated but deleted and made anew: the provider would send back the start time that AWS
computed, which lies in the past or lets the old turn fire once more
(https://github.com/pulumi/pulumi-aws/issues/2473). They end with the group, so that a destroy doesn't ask
for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import pulumi
from pulumi_aws import autoscaling

from infra.options import child
from nightshift.plan.shifts import Action


@dataclass(frozen=True)
class ScheduleSpec:
    """One action. `start` only where an override in force must outlive the action's being made anew."""

    action: Action
    start: datetime | None = None

    @property
    def start_time(self) -> str | None:
        """As the API takes it: UTC, whole seconds."""
        return f"{self.start:%Y-%m-%dT%H:%M:%SZ}" if self.start else None


def schedule_specs(
    actions: Sequence[Action], changed: Sequence[str], starts: Mapping[str, datetime]
) -> tuple[ScheduleSpec, ...]:
    """`changed` are the names that will be put; `starts` what each must start at under the override."""
    return tuple(
        ScheduleSpec(action, starts.get(action.name) if action.name in changed else None)
        for action in actions
    )


class Schedules(pulumi.ComponentResource):
    """The actions of one group, made after its hooks: no node may launch before them."""

    def __init__(
        self,
        name: str,
        specs: Sequence[ScheduleSpec],
        *,
        group: autoscaling.Group,
        after: Sequence[pulumi.Resource],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("nightshift:infra:Schedules", name, None, opts)
        for spec in specs:
            self._action(name, spec, group, after)
        self.register_outputs({})

    def _action(
        self, name: str, spec: ScheduleSpec, group: autoscaling.Group, after: Sequence[pulumi.Resource]
    ) -> None:
        action = spec.action
        autoscaling.Schedule(
            f"{name}-{action.name}",
            autoscaling_group_name=group.name,
            scheduled_action_name=action.name,
            recurrence=action.recurrence,
            time_zone=action.time_zone,
            start_time=spec.start_time,
            min_size=action.min_size,
            max_size=action.max_size,
            desired_capacity=action.desired,
            opts=child(
                self,
                depends_on=after,
                deleted_with=group,
                replace_on=("*",),
                delete_before_replace=True,
            ),
        )
