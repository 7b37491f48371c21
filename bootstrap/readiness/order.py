"""The order of the checks, which of them stop others, and how a boot and `verify` go through them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bootstrap.imds import Instance
from bootstrap.manifest import BootManifest
from bootstrap.readiness import (
    checks_cards,
    checks_driver,
    checks_efa,
    checks_fabric,
    checks_identity,
    checks_kernels,
    checks_packages,
    checks_runtime,
)
from bootstrap.readiness.check import Check, Result, not_asked
from bootstrap.readiness.expectation import Expectation, Unknown, expectation
from bootstrap.readiness.situation import Situation
from bootstrap.readiness.verdict import Finding

Look = Callable[[Situation], Finding]
"""A check of another room, such as storage: it looks at the node and says what it found."""
BootCheck = Callable[[BootManifest, Instance], Finding]
STORAGE, RECORD = "storage.volumes", "record.writable"
NEEDS = {
    "packages": ("identity",),
    "driver": ("identity",),
    "fabric": ("driver",),
    "runtime": ("driver",),
    "kernels": ("runtime", "fabric"),
    "collective": ("kernels",),
    "efa": ("identity",),
    "efa.network": ("collective",),
}
"""A part or check whose findings mean nothing once one of those named has failed."""
GATES = ("identity.type", "driver.bus", "driver.modules", "runtime.imports", "efa.devices")
"""A check that stops the rest of its own part when it fails."""
_BEFORE = (*checks_identity.CHECKS,)
_BETWEEN = (
    *checks_packages.CHECKS,
    *checks_driver.CHECKS,
    *checks_cards.CHECKS,
    *checks_fabric.CHECKS,
    *checks_runtime.CHECKS,
    *checks_kernels.KERNEL_CHECKS,
    *checks_kernels.COLLECTIVE_CHECKS,
    *checks_efa.CHECKS,
)
NAMES = (*(check.name for check in _BEFORE), STORAGE, *(check.name for check in _BETWEEN), RECORD)
"""Every check in its order."""


def order(storage: Look | None, record: Look | None) -> tuple[Check, ...]:
    """All checks. What another room hasn't given is asked of a group's node all the same, and fails it."""
    return (*_BEFORE, _given(STORAGE, storage), *_BETWEEN, _given(RECORD, record))


def _given(name: str, look: Look | None) -> Check:
    """Another room's check under its name in this order."""

    def run(situation: Situation, expected: Expectation) -> Result:
        if situation.manifest is None:
            return not_asked(checks_identity.NO_GROUP)
        if look is None:
            return Result(False, "a check of it", "none in this release", "use a release that has it")
        found = look(situation)
        return Result(found.passed, found.expected, found.found, found.remedy, found.asked)

    return Check(name, run, "a finding", "see the text")


class Examination:
    """One pass over the checks. What a failed check makes meaningless is not run, and fails too.

    `at_once`: nothing is run after the first failure.
    """

    def __init__(self, situation: Situation, *, at_once: bool = False) -> None:
        self._situation, self._at_once = situation, at_once
        self._failed: dict[str, str] = {}
        self._expected: Expectation | None = None
        self._unknown: Unknown | None = None
        try:
            self._expected = expectation(situation)
        except Unknown as error:
            self._unknown = error

    def run(self, check: Check) -> Finding:
        """The check's finding."""
        cause = self._cause(check)
        if self._expected is None:
            finding = self._refused(check)
        elif cause:
            finding = Finding(check.name, False, check.expected, f"not run: {cause} failed", "", asked=False)
        else:
            finding = check.run(self._situation, self._expected)
        if not finding.passed:
            self._failed[check.name] = cause or check.name
        return finding

    def _refused(self, check: Check) -> Finding:
        error = self._unknown
        if check.name == GATES[0] and error is not None:
            return Finding(check.name, False, error.expected, error.found, error.remedy)
        return Finding(check.name, False, check.expected, f"not run: {GATES[0]} failed", "", asked=False)

    def _cause(self, check: Check) -> str | None:
        """The failed check, first of its chain, that this one would only repeat."""
        if self._at_once and self._failed:
            return next(iter(self._failed.values()))
        needed = {*NEEDS.get(check.part, ()), *NEEDS.get(check.name, ())}
        for name, root in self._failed.items():
            part = name.partition(".")[0]
            if part in needed or (name in GATES and part == check.part):
                return root
        return None


def examine(situation: Situation, storage: Look | None = None, record: Look | None = None) -> list[Finding]:
    """Every check's finding, in order."""
    examination = Examination(situation)
    return [examination.run(check) for check in order(storage, record)]


def checks_for(
    situate: Callable[[BootManifest, Instance], Situation], storage: Look | None, record: Look | None = None
) -> Sequence[BootCheck]:
    """The checks as a boot takes them, each a function of manifest and instance; stops at the first failure.

    `situate` gives the edges (commands, interpreter, roots). Without `storage` no node is ever ready.
    `record` may be left to the end of the launch, which writes the record and fails the node if it can't.
    """
    begun: list[Examination] = []

    def bound(check: Check) -> BootCheck:
        def run(manifest: BootManifest, instance: Instance) -> Finding:
            if not begun:
                begun.append(Examination(situate(manifest, instance), at_once=True))
            return begun[0].run(check)

        return run

    checks = order(storage, record)
    return tuple(bound(check) for check in (checks if record else checks[:-1]))
