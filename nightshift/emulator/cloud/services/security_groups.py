"""Security group rules that refer to groups."""

from __future__ import annotations

from typing import Any

from moto.ec2.models.security_groups import SecurityGroupRule

from nightshift.emulator.cloud.state import Handlers, Patch


def _description(rule: Any) -> str | None:
    return rule.ip_range.get("Description") or rule.source_group.get("Description")


_moto_eq = SecurityGroupRule.__eq__


def _same(rule: Any, other: Any) -> bool:
    """Equal but for the description, as AWS judges when a rule is revoked."""
    given, there = rule.source_group, other.source_group
    bare = [{k: v for k, v in source.items() if k != "Description"} for source in (given, there)]
    if bare[0] != bare[1]:
        return False
    rule.source_group = other.source_group = bare[0]
    try:
        return bool(_moto_eq(rule, other))
    finally:
        rule.source_group, other.source_group = given, there


HANDLERS: Handlers = {}
PATCHES = (
    Patch(
        SecurityGroupRule,
        "description",
        property(_description),
        "moto shows the description of rules with addresses only, so a rule with a group "
        "differs on each plan",
    ),
    Patch(
        SecurityGroupRule,
        "__eq__",
        _same,
        "moto cannot revoke a rule with a group when the description is left out",
    ),
)
