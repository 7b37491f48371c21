"""Findings for people, 80 columns wide, and for programs."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from bootstrap.readiness.situation import Situation
from bootstrap.readiness.verdict import Finding, Verdict

WIDTH = 80
VERSION = 1
_MARKS = {"passed": "ok", "failed": "FAIL", "not asked": "-", "not run": "not run"}
_MARK_WIDTH, _NAME_WIDTH = 9, 26


def outcome(finding: Finding) -> str:
    """passed, failed, not asked (doesn't concern this node), or not run (another check failed before)."""
    if finding.passed:
        return "passed" if finding.asked else "not asked"
    return "failed" if finding.asked else "not run"


def table(findings: Sequence[Finding], verdict: Verdict, situation: Situation) -> str:
    """A line or more for each finding, and the verdict last."""
    rows = [line for group in _grouped(findings) for line in _lines(group)]
    last = "Ready" if verdict.ready else "Not ready"
    said = textwrap.wrap(f"{last}: {verdict.says}", WIDTH, break_long_words=True)
    return "\n".join([*_head(situation), "", *rows, "", *said]) + "\n"


def _head(situation: Situation) -> list[str]:
    instance = situation.instance
    who = f"{instance.type} {instance.id} in {instance.zone}" if instance else "a machine that isn't on EC2"
    group = f", group {situation.manifest.group}" if situation.manifest else ", no group's manifest"
    runtime = situation.preset or "no preset named"
    return textwrap.wrap(f"{who}{group}; runtime {runtime}, Python {situation.python}", WIDTH)


def _grouped(findings: Sequence[Finding]) -> Iterator[tuple[Finding, ...]]:
    """Neighbours that weren't run or asked for one reason stand in one row."""
    for _, group in groupby(findings, lambda each: each.check if each.asked else each.found):
        yield tuple(group)


def _lines(group: tuple[Finding, ...]) -> Iterator[str]:
    finding = group[0]
    if len(group) == 1:
        return _rows(outcome(finding), finding.check, _said(finding))
    mark = outcome(finding)
    told = f"{finding.check} to {group[-1].check}: {finding.found.removeprefix(f'{mark}: ')}"
    return _rows(mark, f"{len(group)} checks", [told])


def _rows(mark: str, name: str, said: Iterable[str]) -> Iterator[str]:
    start = f"{_MARKS[mark]:<{_MARK_WIDTH}}{name:<{_NAME_WIDTH}}"
    margin = " " * (_MARK_WIDTH + _NAME_WIDTH)
    for line in said:
        for part in textwrap.wrap(line, WIDTH - len(margin), break_long_words=True) or [""]:
            yield (start + part).rstrip()
            start = margin


def _said(finding: Finding) -> Iterator[str]:
    """A failure says what was expected, what was found and what to do; the others what was found."""
    if outcome(finding) != "failed":
        yield finding.found
        return
    yield f"found {finding.found}"
    yield f"expected {finding.expected}"
    if finding.remedy:
        yield f"do: {finding.remedy}"


def as_json(findings: Sequence[Finding], verdict: Verdict, situation: Situation) -> str:
    """Stable: a key is never renamed or dropped within a version, and findings stand in the checks' order."""
    instance = situation.instance
    told = {
        "version": VERSION,
        "ready": verdict.ready,
        "failed": verdict.failed,
        "says": verdict.says,
        "instance": instance.id if instance else None,
        "type": instance.type if instance else None,
        "runtime": situation.preset,
        "findings": [
            {
                "check": finding.check,
                "outcome": outcome(finding),
                "expected": finding.expected,
                "found": finding.found,
                "remedy": finding.remedy,
            }
            for finding in findings
        ],
    }
    return json.dumps(told, indent=1, ensure_ascii=True) + "\n"
