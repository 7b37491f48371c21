"""Snapshot policies of Data Lifecycle Manager, on volumes by one dedicated tag.

It makes no snapshot itself and restores none. Each policy's snapshots carry their volume's tags, so a lost
volume's snapshots can still be told apart by name; the target tag among them is without effect there, since
the policies look at volumes only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_aws import dlm, iam

from infra.live import LiveSite
from infra.options import SiteContext, child, tags
from infra.policies import snapshot_policy, snapshot_trust, to_json
from nightshift.plan import names
from nightshift.settings.models import Stack

ROLE_PART = "role-_dlm"
"""A group's name has no underscore, so no group's role can bear this name."""


@dataclass(frozen=True)
class PolicySpec:
    """One policy. `at_utc` is HH:MM; `target` is the tag value that volumes must carry to the letter."""

    name: str
    description: str
    target: str
    at_utc: str
    every_hours: int
    keep: int


@dataclass(frozen=True)
class SnapshotsSpec:
    """All policies of the site, and the name of the role that they run under."""

    role_name: str
    policies: tuple[PolicySpec, ...]


def snapshots_spec(stack: Stack, site: SiteContext) -> SnapshotsSpec:
    """The policies that the stack file declares, in the order of their names."""
    policies = tuple(
        PolicySpec(
            name,
            names.policy_description(site.name, name),
            names.snapshot_target(site.name, name),
            policy.at_utc,
            policy.every_hours,
            policy.keep,
        )
        for name, policy in sorted(stack.snapshots.items())
    )
    return SnapshotsSpec(names.role_name(site.name, site.region, "_dlm"), policies)


class SnapshotPolicies(pulumi.ComponentResource):
    """A role and one lifecycle policy per declared policy; no child at all without policies."""

    dlm_role_arn: pulumi.Output[str] | None = None

    def __init__(
        self,
        name: str,
        spec: SnapshotsSpec,
        *,
        site: SiteContext,
        live: LiveSite,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("nightshift:infra:SnapshotPolicies", name, None, opts)
        if spec.policies:
            role, attached = self._role(name, spec, site, live)
            self.dlm_role_arn = role.arn
            for policy in spec.policies:
                self._policy(name, policy, role.arn, site, live, (attached,))
        self.register_outputs({"dlm_role_arn": self.dlm_role_arn})

    def _role(
        self, name: str, spec: SnapshotsSpec, site: SiteContext, live: LiveSite
    ) -> tuple[iam.Role, iam.RolePolicy]:
        role = iam.Role(
            f"{name}-role",
            name=spec.role_name,
            description=f"Snapshots of volumes of site {site.name}",
            assume_role_policy=to_json(snapshot_trust(site.account)),
            tags=tags(site, ROLE_PART),
            opts=child(self, import_id=live.import_id(ROLE_PART)),
        )
        document = to_json(snapshot_policy(site.name, site.region, site.partition))
        attached = iam.RolePolicy(
            f"{name}-policy", name="snapshots", role=role.name, policy=document, opts=child(self)
        )
        return role, attached

    def _policy(
        self,
        name: str,
        policy: PolicySpec,
        role_arn: pulumi.Input[str],
        site: SiteContext,
        live: LiveSite,
        after: Sequence[pulumi.Resource],
    ) -> None:
        part = f"dlm-{policy.name}"
        dlm.LifecyclePolicy(
            f"{name}-{policy.name}",
            description=policy.description,
            execution_role_arn=role_arn,
            state="ENABLED",
            policy_details=_details(policy),
            tags=tags(site, part),
            opts=child(self, import_id=live.import_id(part), depends_on=after),
        )


def _details(policy: PolicySpec) -> dlm.LifecyclePolicyPolicyDetailsArgs:
    schedule = dlm.LifecyclePolicyPolicyDetailsScheduleArgs(
        name=f"nightshift {policy.name}",
        create_rule=dlm.LifecyclePolicyPolicyDetailsScheduleCreateRuleArgs(
            interval=policy.every_hours, interval_unit="HOURS", times=policy.at_utc
        ),
        retain_rule=dlm.LifecyclePolicyPolicyDetailsScheduleRetainRuleArgs(count=policy.keep),
        copy_tags=True,
    )
    return dlm.LifecyclePolicyPolicyDetailsArgs(
        resource_types=["VOLUME"], target_tags={names.TAG_SNAPSHOTS: policy.target}, schedules=[schedule]
    )
