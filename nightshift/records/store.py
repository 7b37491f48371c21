"""Records in S3: where each lies, and writes that never overwrite what the writer hasn't seen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from nightshift.records.drain import DrainRecord
from nightshift.records.errors import ChangedMeanwhile, NoBucket, Unreadable
from nightshift.records.hours import HoursRecord
from nightshift.records.model import OverrideRecord, ReadinessRecord, RunRecord
from nightshift.records.notebook import NotebookRecord

READINESS = "readiness.json"
NOTEBOOK = "notebook.json"
_ABSENT = {"NoSuchKey", "NoSuchBucket", "404", "NotFound"}
_CONFLICT = {"PreconditionFailed", "ConditionalRequestConflict", "412", "409"}

Found = TypeVar("Found")


def override_key(group: str) -> str:
    """Where a group's override lies."""
    return f"overrides/{group}.json"


def readiness_key(userid: str) -> str:
    """Where a node writes its verdict; `userid` is its `aws:userid`, `AROA...:i-...`."""
    return f"nodes/{userid}/{READINESS}"


def run_key(group: str) -> str:
    """Where a group's latest run record lies."""
    return f"runs/{group}/latest.json"


def drain_key(userid: str) -> str:
    """Where a node writes how it drained."""
    return f"nodes/{userid}/drain.json"


def notebook_key(userid: str) -> str:
    """Where a node says how its notebooks are reached."""
    return f"nodes/{userid}/{NOTEBOOK}"


def hours_prefix(group: str, month: str) -> str:
    """Where a group's nodes write their hours of a UTC month such as `2026-12`."""
    return f"groups/{group}/hours/{month}/"


@dataclass(frozen=True)
class Seen:
    """An override as it was read: the record, or none, and the ETag that a later write must still find."""

    record: OverrideRecord | None
    etag: str | None


class Records:
    """The records of one site. `client` is a boto3 S3 client; only its own ClientError is caught.

    `listed`: look for an object in a listing before it is read. A node needs that: its role lists by
    prefix only, and S3 then answers a missing object with 403.
    """

    def __init__(self, client: Any, bucket: str, *, listed: bool = False) -> None:
        self._client = client
        self._listed = listed
        self._hours: dict[str, tuple[str, HoursRecord]] = {}
        self.bucket = bucket

    def override(self, group: str) -> Seen:
        """The group's override with its ETag; raises Unreadable."""
        found = self._get(override_key(group))
        if found is None:
            return Seen(None, None)
        body, etag = found
        where = self._where(override_key(group))
        try:
            return Seen(OverrideRecord.load(where, body), etag)
        except Unreadable as error:
            raise Unreadable(where, error.why, f"`nightshift resume {group}` removes it.") from error

    def override_etag(self, group: str) -> str | None:
        """The ETag of whatever stands at the override's place, readable or not."""
        found = self._get(override_key(group))
        return found[1] if found else None

    def write_override(self, group: str, record: OverrideRecord, seen: str | None) -> str:
        """Write it if the place is still as seen (`None`: empty); returns the new ETag.

        Raises ChangedMeanwhile when another operator wrote in between, NoBucket when not deployed.
        """
        key = override_key(group)
        condition = {"IfMatch": seen} if seen else {"IfNoneMatch": "*"}
        try:
            answer = self._client.put_object(
                Bucket=self.bucket,
                Key=key,
                Body=record.dump(),
                ContentType="application/json",
                **condition,
            )
        except self._client.exceptions.ClientError as error:
            raise self._write_error(key, error, bool(seen)) from error
        return str(answer["ETag"])

    def delete_override(self, group: str, seen: str | None) -> None:
        """Remove it if it is still as seen; nothing to do where nothing was seen."""
        if seen is None:
            return
        key = override_key(group)
        try:
            self._client.delete_object(Bucket=self.bucket, Key=key, IfMatch=seen)
        except self._client.exceptions.ClientError as error:
            if _code(error) == "NoSuchKey":
                return
            raise self._write_error(key, error, True) from error

    def run(self, group: str) -> RunRecord | None:
        """The group's latest run record."""
        found = self._get(run_key(group))
        return RunRecord.load(self._where(run_key(group)), found[0]) if found else None

    def write_run(self, group: str, record: RunRecord) -> None:
        """Put the group's latest run record; the node that holds the run's volume is its only writer."""
        self._client.put_object(Bucket=self.bucket, Key=run_key(group), Body=record.dump())

    def write_readiness(self, userid: str, record: ReadinessRecord) -> None:
        """Put a node's own verdict; the role lets it write under its own id only."""
        self._client.put_object(Bucket=self.bucket, Key=readiness_key(userid), Body=record.dump())

    def readiness(self, nodes: Collection[str]) -> dict[str, ReadinessRecord | Unreadable]:
        """The verdicts of the named instance ids, those that have one; a damaged one harms no other."""
        return self._of_nodes(READINESS, nodes, ReadinessRecord.load)

    def write_notebook(self, userid: str, record: NotebookRecord) -> None:
        """Put how a node's notebooks are reached, under its own id."""
        self._client.put_object(Bucket=self.bucket, Key=notebook_key(userid), Body=record.dump())

    def notebooks(self, nodes: Collection[str]) -> dict[str, NotebookRecord | Unreadable]:
        """The notebooks of the named instance ids, those that have any; a damaged record harms no other."""
        return self._of_nodes(NOTEBOOK, nodes, NotebookRecord.load)

    def write_drain(self, userid: str, record: DrainRecord) -> None:
        """Put how a node drained, under its own id."""
        self._client.put_object(Bucket=self.bucket, Key=drain_key(userid), Body=record.dump())

    def write_hours(self, group: str, month: str, name: str, record: HoursRecord) -> None:
        """Put the hours of one boot of one node; `name` is that boot's, nobody else writes there."""
        key = f"{hours_prefix(group, month)}{name}.json"
        self._client.put_object(Bucket=self.bucket, Key=key, Body=record.dump())

    def hours(self, group: str, month: str) -> tuple[HoursRecord, ...]:
        """Of all boots in a month; only what changed since the last call is fetched. Raises Unreadable."""
        found: dict[str, tuple[str, HoursRecord]] = {}
        for key, etag in self._listing(hours_prefix(group, month)):
            known = self._hours.get(key)
            if known is not None and known[0] == etag:
                found[key] = known
            elif (got := self._get(key)) is not None:
                found[key] = (etag, HoursRecord.load(self._where(key), got[0]))
        self._hours = found
        return tuple(record for _, record in found.values())

    def _of_nodes(
        self, name: str, nodes: Collection[str], load: Callable[[str, bytes], Found]
    ) -> dict[str, Found | Unreadable]:
        """The record of one name that each of these nodes wrote."""
        found: dict[str, Found | Unreadable] = {}
        for key in self._keys("nodes/"):
            node = _node_of(key, name)
            if node is None or node not in nodes or (got := self._get(key)) is None:
                continue
            try:
                found[node] = load(self._where(key), got[0])
            except Unreadable as error:
                found[node] = error
        return found

    def _where(self, key: str) -> str:
        return f"s3://{self.bucket}/{key}"

    def _get(self, key: str) -> tuple[bytes, str] | None:
        if self._listed and not any(each == key for each in self._keys(key)):
            return None
        try:
            answer = self._client.get_object(Bucket=self.bucket, Key=key)
        except self._client.exceptions.ClientError as error:
            if _code(error) in _ABSENT:
                return None
            raise
        return answer["Body"].read(), str(answer["ETag"])

    def _keys(self, prefix: str) -> Iterator[str]:
        return (key for key, _ in self._listing(prefix))

    def _listing(self, prefix: str) -> Iterator[tuple[str, str]]:
        """Keys with their ETags."""
        try:
            for page in self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self.bucket, Prefix=prefix
            ):
                yield from ((str(item["Key"]), str(item["ETag"])) for item in page.get("Contents", ()))
        except self._client.exceptions.ClientError as error:
            if _code(error) not in _ABSENT:
                raise

    def _write_error(self, key: str, error: Exception, expected_there: bool) -> Exception:
        code = _code(error)
        if code == "NoSuchBucket":
            return NoBucket(self.bucket)
        if code in _CONFLICT or (expected_there and code == "NoSuchKey"):
            return ChangedMeanwhile(self._where(key))
        return error


def _code(error: Exception) -> str:
    response: dict[str, Any] = getattr(error, "response", {})
    return str(response.get("Error", {}).get("Code", ""))


def _node_of(key: str, name: str) -> str | None:
    """`nodes/AROA...:i-0abc/readiness.json` -> `i-0abc`, of the objects of one name."""
    parts = key.split("/")
    if len(parts) != 3 or parts[2] != name or ":" not in parts[1]:
        return None
    return parts[1].rpartition(":")[2]
