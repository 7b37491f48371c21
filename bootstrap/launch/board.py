"""Where the nodes of a group leave word for each other: objects in the data bucket, under groups/GROUP/.

The bucket's own clock tells how old a record is, so the nodes' clocks may differ. A lease is only replaced
by who has seen what stands there (If-Match, If-None-Match).
"""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from threading import Lock
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError
from botocore.handlers import add_expect_header

from bootstrap.aws import refusal
from bootstrap.launch.lease import Lease, Member, dump, load

_ABSENT = ("NoSuchKey", "404", "AccessDenied", "403")
"""A role that may list only below a prefix gets 403 for an object that isn't there (S3 API, GetObject)."""
OLD_S = 3600.0
"""A node may not delete here, so the records of earlier nodes stay."""
_CONFLICT = ("PreconditionFailed", "412", "ConditionalRequestConflict", "409", "NoSuchKey")


class Conflict(Exception):
    """Somebody else wrote the lease meanwhile: look again."""


class Unreachable(Exception):
    """The board didn't answer or refused; the message has its words."""


@dataclass(frozen=True)
class LeaseSeen:
    """`etag` None: nothing stands there. `lease` None with an etag: something unreadable does."""

    lease: Lease | None
    etag: str | None
    age_s: float


@dataclass(frozen=True)
class MemberSeen:
    """A node's record and the seconds since it was written."""

    member: Member
    age_s: float


class Board(Protocol):
    """Every method raises Unreachable."""

    def lease(self) -> LeaseSeen: ...

    def write_lease(self, lease: Lease, etag: str | None) -> str:
        """Only over `etag` (None: nothing there); the new one. Raises Conflict."""

    def members(self) -> list[MemberSeen]: ...

    def write_member(self, member: Member) -> None: ...


class OwnBoard:
    """For a group of one node: it agrees with itself, at once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._lease: Lease | None = None
        self._members: dict[str, Member] = {}

    def lease(self) -> LeaseSeen:
        with self._lock:
            return LeaseSeen(self._lease, "own" if self._lease else None, 0.0)

    def write_lease(self, lease: Lease, etag: str | None) -> str:
        with self._lock:
            self._lease = lease
        return "own"

    def members(self) -> list[MemberSeen]:
        with self._lock:
            return [MemberSeen(member, 0.0) for member in self._members.values()]

    def write_member(self, member: Member) -> None:
        with self._lock:
            self._members[member.instance] = member


class S3Board:
    """`client`: one of its own, with short timeouts and few retries. It's told not to ask for leave before
    it sends a body: these are small, and asking costs a round trip, a second where nobody answers."""

    def __init__(self, client: Any, bucket: str, group: str) -> None:
        client.meta.events.unregister("before-call.s3", add_expect_header)
        self._client = client
        self._bucket = bucket
        self._lease_key = f"groups/{group}/leader.json"
        self._members_at = f"groups/{group}/members/"
        self._known: dict[str, tuple[str, Member | None]] = {}

    def lease(self) -> LeaseSeen:
        """The lease as it stands."""
        try:
            answer = self._client.get_object(Bucket=self._bucket, Key=self._lease_key)
            return LeaseSeen(load(Lease, answer["Body"].read()), answer["ETag"], _age(answer))
        except ClientError as error:
            if refusal(error)[0] in _ABSENT:
                return LeaseSeen(None, None, 0.0)
            raise Unreachable(str(error)) from error
        except BotoCoreError as error:
            raise Unreachable(str(error)) from error

    def write_lease(self, lease: Lease, etag: str | None) -> str:
        condition = {"IfMatch": etag} if etag else {"IfNoneMatch": "*"}
        try:
            return self._put(self._lease_key, dump(lease), condition)
        except ClientError as error:
            if refusal(error)[0] in _CONFLICT:
                raise Conflict(self._lease_key) from error
            raise Unreachable(str(error)) from error

    def members(self) -> list[MemberSeen]:
        """One listing; bodies are read only when they changed, and never of nodes of earlier shifts."""
        found = []
        try:
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=self._members_at
            )
            for page in pages:
                for item in page.get("Contents", ()):
                    age_s = _since(item["LastModified"], page)
                    if age_s > OLD_S:
                        continue
                    member = self._member(str(item["Key"]), str(item["ETag"]))
                    if member is not None:
                        found.append(MemberSeen(member, age_s))
        except (ClientError, BotoCoreError) as error:
            raise Unreachable(str(error)) from error
        return found

    def write_member(self, member: Member) -> None:
        try:
            self._put(f"{self._members_at}{member.instance}.json", dump(member), {})
        except ClientError as error:
            raise Unreachable(str(error)) from error

    def _put(self, key: str, body: bytes, condition: dict[str, str]) -> str:
        try:
            answer = self._client.put_object(
                Bucket=self._bucket, Key=key, Body=body, ContentType="application/json", **condition
            )
            return str(answer["ETag"])
        except BotoCoreError as error:
            raise Unreachable(str(error)) from error

    def _member(self, key: str, etag: str) -> Member | None:
        if self._known.get(key, ("", None))[0] != etag:
            body = self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
            self._known[key] = (etag, load(Member, body))
        return self._known[key][1]


def _age(answer: dict[str, Any]) -> float:
    return _since(answer["LastModified"], answer)


def _since(written: Any, answer: dict[str, Any]) -> float:
    """Seconds by the bucket's clock, which both dates are of; whole seconds are all that it tells."""
    told = parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"])
    return max(0.0, (told - written).total_seconds())
