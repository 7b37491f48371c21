"""Reading a log group: by prefix of its streams, newest first, in pages. moto's answer knows neither.

Order, pages and refusals: CloudWatch Logs API reference, FilterLogEvents, and botocore 1.44.8's model of it,
read 2026-12. What is older than the group keeps isn't shown any more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from moto.core.utils import unix_time_millis, utcnow
from moto.logs.models import EventMessageFilter, logs_backends

from nightshift.emulator.cloud import ACCOUNT
from nightshift.emulator.cloud.call import AwsError, Call
from nightshift.emulator.cloud.state import Handlers, Patch

PAGE_EVENTS = 10_000
PAGE_BYTES = 1_048_576
BACKWARD_SINCE_MS = int(unix_time_millis(datetime(2024, 1, 1)))
_FORWARD, _BACKWARD = "f", "b"


def _refused(text: str) -> AwsError:
    return AwsError("InvalidParameterException", text)


def _group(call: Call) -> Any:
    given = [key for key in ("logGroupName", "logGroupIdentifier") if call.params.get(key)]
    if len(given) != 1:
        raise _refused("Exactly one of logGroupName and logGroupIdentifier must be given.")
    name = str(call.params[given[0]]).partition(":log-group:")[2] or str(call.params[given[0]])
    group = logs_backends[ACCOUNT][call.region].groups.get(name.removesuffix(":*"))
    if group is None:
        raise AwsError("ResourceNotFoundException", "The specified log group does not exist.")
    return group


def _streams(call: Call, group: Any) -> list[Any]:
    named, prefix = call.params.get("logStreamNames"), call.params.get("logStreamNamePrefix")
    if named and prefix:
        raise _refused("logStreamNames and logStreamNamePrefix are mutually exclusive.")
    if named and not set(named) <= set(group.streams):
        raise AwsError("ResourceNotFoundException", "The specified log stream does not exist.")
    return [
        stream
        for name, stream in group.streams.items()
        if (not named or name in named) and name.startswith(prefix or "")
    ]


def _kept_since(group: Any) -> float:
    days = group.retention_in_days
    return unix_time_millis(utcnow() - timedelta(days=int(days))) if days else 0.0


def _matching(call: Call, group: Any) -> Iterator[dict[str, Any]]:
    first = max(float(call.params.get("startTime", 0)), _kept_since(group))
    last = call.params.get("endTime")
    pattern = EventMessageFilter(call.params.get("filterPattern", ""))
    for stream in _streams(call, group):
        for event in stream.events:
            early, late = event.timestamp < first, last is not None and event.timestamp > last
            if not early and not late and pattern.matches(event.message):
                yield {**event.to_filter_dict(), "logStreamName": stream.log_stream_name}


def _backward(call: Call) -> bool:
    """The token has the last word on the direction."""
    token = call.params.get("nextToken")
    if token:
        return str(token).startswith(_BACKWARD)
    backward = call.params.get("startFromHead") is False
    if backward and call.params.get("startTime", 0) < BACKWARD_SINCE_MS:
        raise _refused("startFromHead can be false only when startTime is on or after 2024-01-01.")
    return backward


def _after(events: list[dict[str, Any]], token: str) -> list[dict[str, Any]]:
    """What follows the event that the token names."""
    ids = [event["eventId"] for event in events]
    _, _, seen = token.partition("/")
    if not token.startswith((f"{_FORWARD}/", f"{_BACKWARD}/")) or seen not in ids:
        raise _refused("The specified nextToken is invalid.")
    return events[ids.index(seen) + 1 :]


def _page(events: Iterable[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    page: list[dict[str, Any]] = []
    size = 0
    for event in events:
        size += len(event["message"].encode()) + 26
        if len(page) >= limit or (page and size > PAGE_BYTES):
            break
        page.append(event)
    return page


def _filter(call: Call) -> dict[str, Any]:
    backward = _backward(call)
    events = sorted(
        _matching(call, _group(call)),
        key=lambda event: (event["timestamp"], event["ingestionTime"], int(event["eventId"])),
        reverse=backward,
    )
    token = call.params.get("nextToken")
    left = _after(events, str(token)) if token else events
    page = _page(left, int(call.params.get("limit", PAGE_EVENTS)))
    answer: dict[str, Any] = {"events": page, "searchedLogStreams": []}
    if len(page) < len(left):
        answer["nextToken"] = f"{_BACKWARD if backward else _FORWARD}/{page[-1]['eventId']}"
    return answer


HANDLERS: Handlers = {("logs", "FilterLogEvents"): _filter}
PATCHES: tuple[Patch, ...] = ()
