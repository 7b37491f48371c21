"""From findings to a verdict. No finding is not a good finding: without any check a node is not ready."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NO_CHECKS = "no readiness check ran: nothing is proven about this node"


@dataclass(frozen=True)
class Finding:
    """What one check expected and found; `remedy` is what a person can do.

    Without `asked` the check doesn't concern this node, and `found` says why; it proves nothing.
    """

    check: str
    passed: bool
    expected: str
    found: str
    remedy: str
    asked: bool = True


@dataclass(frozen=True)
class Verdict:
    """`failed` names the first check that failed, empty when ready; `says` is the reason in one line."""

    ready: bool
    failed: str
    says: str


def judge(findings: Sequence[Finding]) -> Verdict:
    """Ready only if there are findings that prove something and every one passed."""
    asked = [finding for finding in findings if finding.asked or not finding.passed]
    if not asked:
        return Verdict(False, "none", NO_CHECKS)
    for finding in asked:
        if not finding.passed:
            return Verdict(False, finding.check, reason(finding))
    return Verdict(True, "", f"{len(asked)} checks passed")


def reason(finding: Finding) -> str:
    """A failed finding in one line."""
    return f"{finding.check}: expected {finding.expected}, found {finding.found}; {finding.remedy}"
