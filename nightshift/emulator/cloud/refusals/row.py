"""One refusal of real AWS as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nightshift.emulator.cloud.call import Call

Condition = Callable[[Call], str | None]

# Where rows come from: one of these and the operation or page, read in November 2026; "fact F70" is an item
# of docs/aws-facts.md.
API = "botocore 1.44.8 service model, API text of"
ASG_GUIDE = "docs.aws.amazon.com/autoscaling/ec2/userguide"
EC2_GUIDE = "docs.aws.amazon.com/AWSEC2/latest/UserGuide"
EBS_GUIDE = "docs.aws.amazon.com/ebs/latest/userguide"
READ = "2026-11"


@dataclass(frozen=True)
class Row:
    """`refuses` gives AWS's message for a call it refuses, else None. It sees the call after the
    model's own checks."""

    name: str
    service: str
    operations: tuple[str, ...]
    code: str
    refuses: Condition
    source: str
    date: str = READ
