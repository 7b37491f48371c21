"""What no field can say alone. Each rule is a function from the sound parts of a stack to its findings."""

from __future__ import annotations

from datetime import datetime

from nightshift.settings.problem import Problem
from nightshift.settings.rules import group, hardware, meeting, site, storage
from nightshift.settings.scope import Scope


def findings(scope: Scope, now: datetime) -> list[Problem]:
    """Every problem across fields. `now` (UTC) is where the search for meeting shifts begins."""
    found = [
        *site.findings(scope),
        *storage.findings(scope),
        *group.findings(scope),
        *hardware.findings(scope),
        *meeting.findings(scope, now),
    ]
    return [problem for problem in found if not scope.replaced(problem.path)]
