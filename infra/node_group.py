"""One group of GPU nodes: fence, placement, launch template, Auto Scaling group, hooks, schedules.

The program never says how many nodes run: schedules, operators and the nodes themselves move the desired
size. It attaches no volume and terminates no node.

Order. The group is made at size 0, then its hooks, then its schedules, so that no node comes up unhooked.
On the way back hooks and schedules end with the group: a hook deleted before it would finish every drain
that is under way. Whatever a draining node still needs is in `needs`, and so outlives the group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_aws import autoscaling, ec2

from infra import template
from infra.live import LiveSite
from infra.options import SiteContext, child, tags
from infra.rules import OUTBOUND, WITHIN, declare_rules
from infra.schedules import Schedules, ScheduleSpec
from infra.template import TemplateSpec
from nightshift.plan import names
from nightshift.plan.capacity import CapacityPlan

DRAIN_HEARTBEAT_S = 120
"""Short, since the node renews it while it drains: a dead node costs two minutes, not a whole drain."""
GRACE_S = 60
"""Health checks begin this long after a node is in service; its readiness was proven before that."""
DELETE_MARGIN_MIN = 15
"""AWS may show a terminated node for some ten minutes; the provider waits for the last one."""
METRICS = (
    autoscaling.Metric.GROUP_DESIRED_CAPACITY,
    autoscaling.Metric.GROUP_IN_SERVICE_INSTANCES,
    autoscaling.Metric.GROUP_PENDING_INSTANCES,
    autoscaling.Metric.GROUP_TERMINATING_INSTANCES,
    autoscaling.Metric.GROUP_TOTAL_INSTANCES,
)
OWNED_BY_OTHERS = ("desiredCapacity", "suspendedProcesses")
"""Schedules, operators and AWS itself move these."""


@dataclass(frozen=True)
class GroupSpec:
    """What the stack file says of a group. `boot_s` and `drain_s` in seconds."""

    group: str
    nodes: int
    boot_s: int
    drain_s: int
    fabric: bool
    template: TemplateSpec
    schedules: tuple[ScheduleSpec, ...]

    @property
    def delete_timeout(self) -> str:
        """How long a destroy waits for nodes that boot or drain, as a Go duration."""
        return f"{(self.boot_s + self.drain_s) // 60 + DELETE_MARGIN_MIN}m"


class NodeGroup(pulumi.ComponentResource):
    """The group and all that is its own. `name` is the Auto Scaling group's."""

    group_name: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        spec: GroupSpec,
        *,
        site: SiteContext,
        live: LiveSite,
        user_data_b64: pulumi.Input[str],
        profile_arn: pulumi.Input[str],
        vpc_id: pulumi.Input[str],
        subnet_id: pulumi.Input[str],
        fence_id: pulumi.Input[str],
        needs: Sequence[pulumi.Resource],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("nightshift:infra:NodeGroup", name, None, opts)
        self._name, self._spec, self._site, self._live = name, spec, site, live
        fences, rules = [fence_id], ()
        if spec.fabric:
            fabric, rules = self._fabric(vpc_id)
            fences.append(fabric.id)
        launch = self._template(user_data_b64, profile_arn, fences)
        group = self._group(launch, subnet_id, (*needs, *rules))
        hooks = self._hooks(group)
        Schedules(name, spec.schedules, group=group, after=hooks, opts=pulumi.ResourceOptions(parent=self))
        self.group_name = group.name
        self.register_outputs({"group_name": group.name})

    def _fabric(self, vpc_id: pulumi.Input[str]) -> tuple[ec2.SecurityGroup, tuple[pulumi.Resource, ...]]:
        """The nodes of one group may say anything to each other, and only to each other."""
        part = f"fabric-{self._spec.group}"
        group = ec2.SecurityGroup(
            f"{self._name}-fabric",
            name=f"{self._spec.template.name}-fabric",
            description=f"Nodes of group {self._spec.group} of site {self._site.name} among themselves",
            vpc_id=vpc_id,
            tags=self._tags(part),
            opts=self._child(part),
        )
        rules = declare_rules(
            f"{self._name}-fabric",
            (*WITHIN, OUTBOUND),
            parent=self,
            group=group,
            live_group=self._live.import_id(part),
            live=self._live.rules,
            site=self._site,
        )
        return group, rules

    def _placement(self) -> pulumi.Output[str] | None:
        if self._spec.template.plan.placement is None:
            return None
        part = f"placement-{self._spec.group}"
        return ec2.PlacementGroup(
            f"{self._name}-placement",
            name=self._spec.template.name,
            strategy=self._spec.template.plan.placement,
            tags=self._tags(part),
            opts=self._child(part),
        ).name

    def _template(
        self,
        user_data_b64: pulumi.Input[str],
        profile_arn: pulumi.Input[str],
        fences: Sequence[pulumi.Input[str]],
    ) -> ec2.LaunchTemplate:
        spec, part = self._spec.template, f"template-{self._spec.group}"
        return ec2.LaunchTemplate(
            f"{self._name}-template",
            name=spec.name,
            update_default_version=True,
            image_id=spec.image,
            instance_type=spec.plan.types[0],
            key_name=spec.key_name,
            user_data=user_data_b64,
            iam_instance_profile=ec2.LaunchTemplateIamInstanceProfileArgs(arn=profile_arn),
            instance_initiated_shutdown_behavior="terminate",
            block_device_mappings=template.root_disk(spec),
            metadata_options=template.metadata(spec),
            monitoring=ec2.LaunchTemplateMonitoringArgs(enabled=False),
            network_interfaces=template.interfaces(spec, fences),
            instance_market_options=template.market(spec),
            capacity_reservation_specification=template.reservation(spec),
            placement=template.placement(self._placement()),
            tag_specifications=template.tag_specifications(self._node_tags()),
            tags=self._tags(part),
            opts=self._child(part),
        )

    def _group(
        self, launch: ec2.LaunchTemplate, subnet_id: pulumi.Input[str], needs: Sequence[pulumi.Resource]
    ) -> autoscaling.Group:
        spec, part = self._spec, f"group-{self._spec.group}"
        version = launch.latest_version.apply(str)
        mixed, single = _launching(spec.template.plan, launch.id, version)
        return autoscaling.Group(
            f"{self._name}-group",
            name=spec.template.name,
            min_size=0,
            max_size=spec.nodes,
            vpc_zone_identifiers=[subnet_id],
            mixed_instances_policy=mixed,
            launch_template=single,
            health_check_type="EC2",
            health_check_grace_period=GRACE_S,
            default_instance_warmup=GRACE_S,
            # A rebalance would launch the successor while the old node still holds the volumes.
            capacity_rebalance=False,
            instance_maintenance_policy=autoscaling.GroupInstanceMaintenancePolicyArgs(
                min_healthy_percentage=0, max_healthy_percentage=100
            ),
            # Force would skip the drain: the last checkpoint would be lost.
            force_delete=False,
            wait_for_capacity_timeout="0",
            enabled_metrics=list(METRICS),
            metrics_granularity=autoscaling.MetricsGranularity.ONE_MINUTE,
            tags=_group_tags(self._node_tags(), part),
            opts=child(
                self,
                import_id=self._live.import_id(part),
                depends_on=needs,
                ignore=OWNED_BY_OTHERS,
                delete_timeout=spec.delete_timeout,
            ),
        )

    def _hooks(self, group: autoscaling.Group) -> tuple[pulumi.Resource, ...]:
        return (
            self._hook(group, names.HOOK_READY, "LAUNCHING", "ABANDON", self._spec.boot_s),
            self._hook(group, names.HOOK_DRAIN, "TERMINATING", "CONTINUE", DRAIN_HEARTBEAT_S),
        )

    def _hook(
        self, group: autoscaling.Group, name: str, transition: str, default: str, heartbeat_s: int
    ) -> autoscaling.LifecycleHook:
        return autoscaling.LifecycleHook(
            f"{self._name}-{name}",
            name=name,
            autoscaling_group_name=group.name,
            lifecycle_transition=f"autoscaling:EC2_INSTANCE_{transition}",
            default_result=default,
            heartbeat_timeout=heartbeat_s,
            opts=child(self, deleted_with=group),
        )

    def _node_tags(self) -> dict[str, str]:
        return names.node_tags(self._site.name, self._spec.group, self._site.owner)

    def _tags(self, part: str) -> dict[str, str]:
        return tags(self._site, part, group=self._spec.group)

    def _child(self, part: str) -> pulumi.ResourceOptions:
        return child(self, import_id=self._live.import_id(part))


def _launching(
    plan: CapacityPlan, template_id: pulumi.Input[str], version: pulumi.Input[str]
) -> tuple[autoscaling.GroupMixedInstancesPolicyArgs | None, autoscaling.GroupLaunchTemplateArgs | None]:
    """A mixed-instances policy, or the bare template for a capacity block, which a policy can't buy from."""
    if plan.reservation is not None:
        return None, autoscaling.GroupLaunchTemplateArgs(id=template_id, version=version)
    return _mixed(plan, template_id, version), None


def _mixed(
    plan: CapacityPlan, template_id: pulumi.Input[str], version: pulumi.Input[str]
) -> autoscaling.GroupMixedInstancesPolicyArgs:
    return autoscaling.GroupMixedInstancesPolicyArgs(
        instances_distribution=autoscaling.GroupMixedInstancesPolicyInstancesDistributionArgs(
            on_demand_base_capacity=plan.on_demand_base,
            on_demand_percentage_above_base_capacity=plan.on_demand_percent,
            on_demand_allocation_strategy=plan.on_demand_strategy,
            spot_allocation_strategy=plan.spot_strategy,
        ),
        launch_template=autoscaling.GroupMixedInstancesPolicyLaunchTemplateArgs(
            launch_template_specification=(
                autoscaling.GroupMixedInstancesPolicyLaunchTemplateLaunchTemplateSpecificationArgs(
                    launch_template_id=template_id, version=version
                )
            ),
            overrides=[
                autoscaling.GroupMixedInstancesPolicyLaunchTemplateOverrideArgs(instance_type=kind)
                for kind in plan.types
            ],
        ),
    )


def _group_tags(node_tags: dict[str, str], part: str) -> list[autoscaling.GroupTagArgs]:
    """The nodes inherit all but the part, which is the group's alone."""
    inherited = [
        autoscaling.GroupTagArgs(key=key, value=value, propagate_at_launch=True)
        for key, value in node_tags.items()
    ]
    own = autoscaling.GroupTagArgs(key=names.TAG_PART, value=part, propagate_at_launch=False)
    return [*inherited, own]
