"""Security group rules, one resource each, so that one made by a killed run is found and taken over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pulumi
from pulumi_aws import ec2, vpc

from infra.live_ec2 import LiveRule
from infra.options import SiteContext, child, tags

ANYWHERE = "0.0.0.0/0"
_ALL = "-1"


@dataclass(frozen=True)
class RuleSpec:
    """One rule. `peer` is a CIDR, None for the security group itself; `port` is TCP's, None for all."""

    name: str
    egress: bool
    peer: str | None
    port: int | None = None


OUTBOUND = RuleSpec("out", egress=True, peer=ANYWHERE)
WITHIN = (RuleSpec("self-in", egress=False, peer=None), RuleSpec("self-out", egress=True, peer=None))
"""EFA traffic passes only where the group allows all traffic both from itself and to itself."""


def ssh_rules(sources: Iterable[str]) -> tuple[RuleSpec, ...]:
    """Port 22 from each named CIDR."""
    return tuple(
        RuleSpec(f"ssh-{cidr.replace('.', '-').replace('/', '-')}", egress=False, peer=cidr, port=22)
        for cidr in sources
    )


def rule_id(spec: RuleSpec, security_group: str | None, live: Sequence[LiveRule]) -> str | None:
    """The live rule that says the same in the same security group; AWS refuses to add it again."""
    if security_group is None:
        return None
    wanted = _key(spec, security_group)
    return next((rule.id for rule in live if _live_key(rule) == wanted), None)


def _key(spec: RuleSpec, security_group: str) -> tuple[str, bool, str, int, str]:
    protocol = _ALL if spec.port is None else "tcp"
    port = -1 if spec.port is None else spec.port
    return security_group, spec.egress, protocol, port, spec.peer or security_group


def _live_key(rule: LiveRule) -> tuple[str, bool, str, int, str]:
    return rule.security_group, rule.egress, rule.protocol, rule.to_port, rule.peer


def declare_rules(
    prefix: str,
    specs: Sequence[RuleSpec],
    *,
    parent: pulumi.Resource,
    group: ec2.SecurityGroup,
    live_group: str | None,
    live: Sequence[LiveRule],
    site: SiteContext,
) -> tuple[pulumi.Resource, ...]:
    """Declare each rule of `group`; `live_group` is the id under which the group stands already."""
    declared = []
    for spec in specs:
        kind = vpc.SecurityGroupEgressRule if spec.egress else vpc.SecurityGroupIngressRule
        declared.append(
            kind(
                f"{prefix}-{spec.name}",
                security_group_id=group.id,
                ip_protocol=_ALL if spec.port is None else "tcp",
                from_port=spec.port,
                to_port=spec.port,
                cidr_ipv4=spec.peer,
                referenced_security_group_id=None if spec.peer else group.id,
                tags=tags(site, f"rule-{prefix}-{spec.name}"),
                opts=child(parent, import_id=rule_id(spec, live_group, live)),
            )
        )
    return tuple(declared)
