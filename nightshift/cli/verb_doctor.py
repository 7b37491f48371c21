"""What is missing between this machine and a running site: tools, credentials, zone, offers, quotas, image.

Reads only. Each line says ok, warn or fail, and what to do.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from nightshift.cli import doctor_aws
from nightshift.cli.answer import Answer
from nightshift.cli.context import Context
from nightshift.cli.doctor_machine import machine
from nightshift.cli.errors import FINE, PROBLEM
from nightshift.cli.finding import Check, Finding, guarded
from nightshift.cli.site import arch_of
from nightshift.cli.text import wrap

if TYPE_CHECKING:
    from nightshift.cli.aws import Aws
    from nightshift.settings.models import Stack

_TOPIC = 18


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's own options."""
    parser.add_argument("--offline", action="store_true", help="look at this machine and the file only")


def run(args: argparse.Namespace, here: Context) -> Answer:
    """Look everywhere, the account's parts at the same time."""
    file = here.file(args.stack)
    findings = machine(here.env)
    stack = here.stack(file)
    findings.append(Finding("ok", "stack file", str(file.path.relative_to(file.root))))
    findings += declared(stack)
    if not args.offline:
        aws: list[Aws] = []

        def login() -> Sequence[Finding]:
            aws.append(here.connect(file, stack))
            return doctor_aws.credentials(aws[0])

        findings += guarded("credentials", login)
        if all(one.level != "fail" for one in findings if one.topic == "credentials"):
            findings += _account(aws[0], stack, here.now())
    return answer(stack.name, findings)


def declared(stack: Stack) -> list[Finding]:
    """What the file says itself, looked at without AWS."""
    from nightshift.settings.advice import placeholder

    if not placeholder(stack.site.image):
        return []
    says = f"{stack.site.image} stands in for a real AMI; no real account has it"
    return [Finding("warn", "image", says, "`nightshift pin --kind KIND --write` puts in a real one")]


def _account(aws: Aws, stack: Stack, now: datetime) -> list[Finding]:
    from nightshift.cli.aws import together

    ec2, s3, quotas = aws.client("ec2"), aws.client("s3"), aws.client("service-quotas")
    checks: dict[str, Check] = {
        "zone": lambda: doctor_aws.zone(ec2, stack),
        "offers": lambda: doctor_aws.offers(ec2, stack),
        "quota": lambda: doctor_aws.quotas(quotas, doctor_aws.needs(stack, now)),
        "image": lambda: doctor_aws.image(ec2, stack, arch_of(stack), now),
        "buckets": lambda: doctor_aws.buckets(s3, stack, aws.account()),
        "budget": lambda: doctor_aws.budget(stack),
    }
    asked = [lambda topic=topic, check=check: guarded(topic, check) for topic, check in checks.items()]
    return [finding for found in together(asked) for finding in found]


def answer(stack: str, findings: Sequence[Finding]) -> Answer:
    """A line each, what to do under it; status 1 when something fails."""
    lines: list[str] = []
    for one in findings:
        lines += wrap(one.says, 6 + _TOPIC, f"{one.level:<6}{one.topic:<{_TOPIC}}")
        lines += wrap(one.todo, 6 + _TOPIC + 2, f"{'':6}{'':{_TOPIC}}> ") if one.todo else []
    counts = doctor_aws.summary(findings)
    lines += ["", f"{counts['ok']} ok, {counts['warn']} to look at, {counts['fail']} to fix"]
    data = {
        "stack": stack,
        "findings": [
            {"level": one.level, "topic": one.topic, "says": one.says, "todo": one.todo} for one in findings
        ],
        "counts": dict(counts),
    }
    return Answer(tuple(lines), data, PROBLEM if counts["fail"] else FINE)
