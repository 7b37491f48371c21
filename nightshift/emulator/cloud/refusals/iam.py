"""Refusals of IAM beyond the model, which already holds name lengths and characters. Sizes in
characters without blanks."""

from __future__ import annotations

import re
from typing import Any

from nightshift.emulator.cloud.call import Call
from nightshift.emulator.cloud.refusals.row import Condition, Row
from nightshift.emulator.cloud.services.backends import iam

INLINE, MANAGED, TRUST = 10_240, 6_144, 2_048
ATTACHED = 10
QUOTAS = "docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html"


def size(document: object) -> int:
    """Characters that count: white space does not."""
    return len(re.sub(r"\s+", "", str(document)))


def _role(call: Call) -> Any | None:
    return next((role for role in iam().roles.values() if role.name == call.params["RoleName"]), None)


def _inline(call: Call) -> str | None:
    role = _role(call)
    if role is None:
        return None
    others = [text for name, text in role.policies.items() if name != call.params["PolicyName"]]
    total = sum(size(text) for text in others) + size(call.params["PolicyDocument"])
    if total <= INLINE:
        return None
    return f"Maximum policy size of {INLINE} bytes exceeded for role {role.name}"


def _managed(call: Call) -> str | None:
    if size(call.params["PolicyDocument"]) <= MANAGED:
        return None
    return f"Cannot exceed quota for PolicySize: {MANAGED}"


def _trust(call: Call) -> str | None:
    text = call.params.get("AssumeRolePolicyDocument") or call.params.get("PolicyDocument")
    return f"Cannot exceed quota for ACLSizePerRole: {TRUST}" if size(text) > TRUST else None


def _attached(call: Call) -> str | None:
    role = _role(call)
    if (
        role is None
        or call.params["PolicyArn"] in role.managed_policies
        or len(role.managed_policies) < ATTACHED
    ):
        return None
    return f"Cannot exceed quota for PoliciesPerRole: {ATTACHED}"


def _row(name: str, operations: tuple[str, ...], refuses: Condition) -> Row:
    return Row(f"iam-{name}", "iam", operations, "LimitExceeded", refuses, f"{QUOTAS}; fact E67")


ROWS = (
    _row("inline-size", ("PutRolePolicy",), _inline),
    _row("managed-size", ("CreatePolicy", "CreatePolicyVersion"), _managed),
    _row("trust-size", ("CreateRole", "UpdateAssumeRolePolicy"), _trust),
    _row("attached-policies", ("AttachRolePolicy",), _attached),
)
