"""Reading the operators' overrides, and whether actions follow them, for verbs that also work without AWS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from nightshift.records.errors import RecordsError
from nightshift.records.model import OverrideRecord
from nightshift.records.store import Records

if TYPE_CHECKING:
    from nightshift.cli.aws import Aws
    from nightshift.cli.context import Context
    from nightshift.cli.live import LiveGroup
    from nightshift.cli.project import StackFile
    from nightshift.settings.models import Stack

Got = TypeVar("Got")


@dataclass(frozen=True)
class Overrides:
    """The overrides and the groups in AWS; why either isn't known, without a full stop, None when it is."""

    records: Mapping[str, OverrideRecord] = field(default_factory=dict)
    unread: str | None = None
    live: Mapping[str, LiveGroup] = field(default_factory=dict)
    unchecked: str | None = None


def try_overrides(here: Context, file: StackFile, stack: Stack) -> Overrides:
    """What can be read; without the overrides the groups say nothing, so they aren't asked then."""
    aws, unread = _tried(lambda: _connected(here, file, stack))
    if aws is None:
        return Overrides(unread=unread or "no AWS credentials")
    records, unread = _tried(lambda: read_overrides(aws.records(stack.name), stack.groups))
    if records is None:
        return Overrides(unread=unread)
    live, unchecked = _tried(lambda: _live(aws, stack))
    return Overrides(records, None, live or {}, unchecked)


def _connected(here: Context, file: StackFile, stack: Stack) -> Aws | None:
    aws = here.connect(file, stack)
    return aws if aws.has_credentials() else None


def _live(aws: Aws, stack: Stack) -> dict[str, LiveGroup]:
    from nightshift.cli.live import read_groups
    from nightshift.plan import names

    asgs = {group: names.group_name(stack.name, group) for group in stack.groups}
    return read_groups(aws.client("autoscaling"), asgs)


def _tried(read: Callable[[], Got]) -> tuple[Got | None, str | None]:
    """What it gives, or None and the reason, to which a sentence may be put its own full stop."""
    from nightshift.cli.errors import AwsError
    from nightshift.cli.failures import from_aws

    try:
        return read(), None
    except RecordsError as error:
        why = str(error)
    except AwsError as error:
        why = error.lines[0]
    except Exception as error:
        known = from_aws(error)
        if known is None:
            raise
        why = known.lines[0]
    return None, why.removesuffix(".")


def read_overrides(records: Records, groups: Iterable[str]) -> dict[str, OverrideRecord]:
    """Every group's override, asked for at the same time; raises RecordsError."""
    from nightshift.cli.aws import together

    names = list(groups)
    seen = together([lambda name=name: records.override(name) for name in names])
    return {name: found.record for name, found in zip(names, seen, strict=True) if found.record}
