"""Reading the operators' overrides for verbs that also work without AWS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from nightshift.records.errors import RecordsError
from nightshift.records.model import OverrideRecord
from nightshift.records.store import Records

if TYPE_CHECKING:
    from nightshift.cli.context import Context
    from nightshift.cli.project import StackFile
    from nightshift.settings.models import Stack


def try_overrides(
    here: Context, file: StackFile, stack: Stack
) -> tuple[Mapping[str, OverrideRecord], str | None]:
    """The overrides, or none and the reason why they couldn't be read."""
    from nightshift.cli.errors import AwsError
    from nightshift.cli.failures import from_aws

    try:
        aws = here.connect(file, stack)
        if not aws.has_credentials():
            return {}, "no AWS credentials"
        return read_overrides(aws.records(stack.name), stack.groups), None
    except RecordsError as error:
        return {}, str(error)
    except AwsError as error:
        return {}, error.lines[0]
    except Exception as error:
        known = from_aws(error)
        if known is None:
            raise
        return {}, known.lines[0]


def read_overrides(records: Records, groups: Iterable[str]) -> dict[str, OverrideRecord]:
    """Every group's override, asked for at the same time; raises RecordsError."""
    from nightshift.cli.aws import together

    names = list(groups)
    seen = together([lambda name=name: records.override(name) for name in names])
    return {name: found.record for name, found in zip(names, seen, strict=True) if found.record}
