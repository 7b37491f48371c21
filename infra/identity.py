"""The role of a group's nodes: one role, one inline policy, one instance profile per group.

It grants no managed policy and no role to people.
"""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_aws import iam

from infra.live import LiveSite
from infra.options import SiteContext, child, tags
from infra.policies import NodeScope, node_policy, node_trust, to_json
from nightshift.plan import names
from nightshift.settings.models import Stack


@dataclass(frozen=True)
class IdentitySpec:
    """The role's name and the scope of its policy."""

    group: str
    role_name: str
    scope: NodeScope


def identity_spec(stack: Stack, group: str, site: SiteContext) -> IdentitySpec:
    """What the nodes of `group` may touch, from the stack file alone."""
    wanted = stack.groups[group]
    scope = NodeScope(
        site=site.name,
        group=group,
        region=site.region,
        account=site.account,
        partition=site.partition,
        group_name=names.group_name(site.name, group),
        data_bucket=names.bucket_name(site.name, "data", site.account, site.region),
        artifacts_bucket=names.bucket_name(site.name, "artifacts", site.account, site.region),
        log_group=names.log_group_name(site.name),
        volumes=tuple(wanted.volumes),
        secrets=wanted.job.secrets if wanted.job else (),
    )
    return IdentitySpec(group, names.role_name(site.name, site.region, group), scope)


class Identity(pulumi.ComponentResource):
    """Role, policy and profile. `profile_arn` resolves only once the policy is in place."""

    role_name: pulumi.Output[str]
    profile_arn: pulumi.Output[str]
    ready: tuple[pulumi.Resource, ...]

    def __init__(
        self,
        name: str,
        spec: IdentitySpec,
        *,
        site: SiteContext,
        live: LiveSite,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("nightshift:infra:Identity", name, None, opts)
        role = self._role(name, spec, site, live)
        policy = iam.RolePolicy(
            f"{name}-policy",
            name="node",
            role=role.name,
            policy=to_json(node_policy(spec.scope)),
            opts=child(self),
        )
        profile = self._profile(name, spec, site, live, role)
        self.ready = (policy, profile)
        self.role_name = role.name
        self.profile_arn = pulumi.Output.all(arn=profile.arn, policy=policy.id).apply(
            lambda both: both["arn"]
        )
        self.register_outputs({"role_name": self.role_name, "profile_arn": self.profile_arn})

    def _role(self, name: str, spec: IdentitySpec, site: SiteContext, live: LiveSite) -> iam.Role:
        part = f"role-{spec.group}"
        return iam.Role(
            f"{name}-role",
            name=spec.role_name,
            description=f"Nodes of group {spec.group} of site {site.name}",
            assume_role_policy=to_json(node_trust(site.partition)),
            tags=tags(site, part, group=spec.group),
            opts=child(self, import_id=live.import_id(part)),
        )

    def _profile(
        self, name: str, spec: IdentitySpec, site: SiteContext, live: LiveSite, role: iam.Role
    ) -> iam.InstanceProfile:
        part = f"profile-{spec.group}"
        return iam.InstanceProfile(
            f"{name}-profile",
            name=spec.role_name,
            role=role.name,
            tags=tags(site, part, group=spec.group),
            opts=child(self, import_id=live.import_id(part)),
        )
