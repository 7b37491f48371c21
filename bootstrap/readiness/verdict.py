"""From findings to a verdict. No finding is not a good finding: without any check a node is not ready."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NO_CHECKS = "no readiness check ran: nothing is proven about this node"


@dataclass(frozen=True)
class Finding:
    """What one check expected and found; `remedy` is what a person can do."""

    check: str
    passed: bool
    expected: str
    found: str
    remedy: str


@dataclass(frozen=True)
class Verdict:
    """`failed` names the first check that failed, empty when ready; `says` is the reason in one line."""

    ready: bool
    failed: str
    says: str


def judge(findings: Sequence[Finding]) -> Verdict:
    """Ready only if there are findings and every one passed."""
    if not findings:
        return Verdict(False, "none", NO_CHECKS)
    for finding in findings:
        if not finding.passed:
            return Verdict(False, finding.check, _reason(finding))
    return Verdict(True, "", f"{len(findings)} checks passed")


def _reason(finding: Finding) -> str:
    return f"{finding.check}: expected {finding.expected}, found {finding.found}; {finding.remedy}"
