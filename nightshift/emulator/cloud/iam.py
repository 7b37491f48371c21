"""Policy evaluation, pure: documents and a request in, a verdict out.

Explicit deny wins, nothing is allowed unless said. Rules: IAM User Guide, "Policy evaluation logic", 2026-11.
No kept library evaluates all condition operators; moto's own leaves out resources and conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nightshift.emulator.cloud.iam_conditions import (
    Context,
    UnknownOperatorError,
    glob,
    holds,
    texts,
)

Verdict = Literal["allow", "deny", "none"]


@dataclass(frozen=True)
class Ask:
    """One action on one resource. `principal` is an ARN, used by resource policies only; context
    values are lists."""

    action: str
    resource: str
    context: Context = field(default_factory=dict)
    principal: str = ""


def _list(value: object) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _action_fits(statement: Mapping[str, Any], ask: Ask) -> bool:
    negated = "NotAction" in statement
    patterns = texts(statement.get("NotAction" if negated else "Action", []))
    return any(glob(pattern, ask.action, {}, ignore_case=True) for pattern in patterns) != negated


def _resource_fits(statement: Mapping[str, Any], ask: Ask) -> bool:
    if "NotResource" in statement:
        patterns = texts(statement["NotResource"])
        return not any(glob(pattern, ask.resource, ask.context) for pattern in patterns)
    if "Resource" not in statement:
        return False
    return any(glob(pattern, ask.resource, ask.context) for pattern in texts(statement["Resource"]))


def _names_principal(value: object, ask: Ask) -> bool:
    if value == "*":
        return True
    if not isinstance(value, Mapping):
        return False
    account = ask.principal.split(":")[4] if ask.principal.count(":") >= 5 else ""
    known = {"*", ask.principal, account, f"arn:aws:iam::{account}:root", _role_of(ask.principal)}
    return any(text in known for text in texts(value.get("AWS", [])))


def _role_of(principal: str) -> str:
    """The role's ARN of an assumed-role session's ARN, else the ARN as it is."""
    if ":assumed-role/" not in principal:
        return principal
    head, _, rest = principal.partition(":assumed-role/")
    return f"{head.replace(':sts:', ':iam:')}:role/{rest.split('/')[0]}"


def _principal_fits(statement: Mapping[str, Any], ask: Ask) -> bool:
    if "Principal" in statement:
        return _names_principal(statement["Principal"], ask)
    if "NotPrincipal" in statement:
        return not _names_principal(statement["NotPrincipal"], ask)
    return True


def _conditions_fit(statement: Mapping[str, Any], ask: Ask) -> bool:
    """All operators and all their keys must hold. An unknown operator counts as met for Deny and
    unmet for Allow."""
    try:
        return all(
            holds(operator, key, wanted, ask.context)
            for operator, keys in (statement.get("Condition") or {}).items()
            for key, wanted in keys.items()
        )
    except UnknownOperatorError:
        return statement.get("Effect") == "Deny"


def _fits(statement: Mapping[str, Any], ask: Ask) -> bool:
    return (
        _action_fits(statement, ask)
        and _resource_fits(statement, ask)
        and _principal_fits(statement, ask)
        and _conditions_fit(statement, ask)
    )


def judge(documents: Iterable[Mapping[str, Any]], ask: Ask) -> Verdict:
    """`deny` if any statement denies, else `allow` if any allows, else `none`."""
    verdict: Verdict = "none"
    for document in documents:
        for statement in _list(document.get("Statement")):
            if not _fits(statement, ask):
                continue
            if statement.get("Effect") == "Deny":
                return "deny"
            verdict = "allow"
    return verdict
