"""Where packs lie: the data bucket, by way of an S3 client that somebody else made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

PART = 32 << 20
"""Bytes; 10,000 parts (S3's limit) hold 312 GiB."""
SENDERS = 4
_OF_PART = ("ETag", "ChecksumCRC32", "ChecksumCRC32C", "ChecksumCRC64NVME", "ChecksumSHA1", "ChecksumSHA256")


class StoreError(OSError):
    """The store doesn't answer, or refuses."""


@dataclass(frozen=True)
class Stored:
    """A pack that is there. `version` changes with its content."""

    size: int
    version: str


class RuntimeStore(Protocol):
    """What ensure needs of a store. Every method raises StoreError."""

    def find(self, key: str) -> Stored | None:
        """What lies there now."""
        ...

    def read(self, key: str, stored: Stored, start: int, count: int) -> bytes:
        """A range of just that content."""
        ...

    def put(self, key: str, parts: Iterable[bytes], replacing: Stored | None) -> bool:
        """Put a new pack where none is, or in the place of `replacing`. False when somebody else was first.

        Whole or not at all, also when `parts` raises.
        """
        ...


class S3Store:
    """The data bucket. A node may list a pack before it reads it: a key that isn't there answers 403."""

    def __init__(self, client: Any, bucket: str) -> None:
        self._client, self._bucket = client, bucket

    def find(self, key: str) -> Stored | None:
        """As in RuntimeStore."""
        told = self._call("list_objects_v2", Prefix=key, MaxKeys=1)
        for each in told.get("Contents", ()):
            if each["Key"] == key:
                return Stored(int(each["Size"]), str(each["ETag"]))
        return None

    def read(self, key: str, stored: Stored, start: int, count: int) -> bytes:
        """As in RuntimeStore."""
        asked = {"Key": key, "Range": f"bytes={start}-{start + count - 1}", "IfMatch": stored.version}
        body = self._call("get_object", **asked)["Body"]
        try:
            return body.read()
        except (BotoCoreError, OSError) as error:
            raise StoreError(f"reading {key}: {error}") from error

    def put(self, key: str, parts: Iterable[bytes], replacing: Stored | None) -> bool:
        """As in RuntimeStore. An upload of parts: one request takes 5 GiB at most."""
        upload = self._call("create_multipart_upload", Key=key)["UploadId"]
        where = {"Key": key, "UploadId": upload}
        condition = {"IfMatch": replacing.version} if replacing else {"IfNoneMatch": "*"}
        try:
            sent = {"Parts": list(self._sent(where, parts))}
            self._call("complete_multipart_upload", **where, MultipartUpload=sent, **condition)
        except BaseException as error:
            self._abort(where)
            if isinstance(error, StoreError) and _lost(error.__cause__):
                return False
            raise
        return True

    def _sent(self, where: dict[str, str], parts: Iterable[bytes]) -> Iterator[dict[str, object]]:
        """A few parts at a time, so that few are held in memory."""
        numbered = enumerate(parts, 1)
        with ThreadPoolExecutor(SENDERS, "send") as pool:
            while batch := list(islice(numbered, SENDERS)):
                yield from pool.map(lambda each: self._send(where, *each), batch)

    def _send(self, where: dict[str, str], number: int, data: bytes) -> dict[str, object]:
        """botocore adds a checksum to each part; S3 wants it again when the upload is completed."""
        answer = self._call("upload_part", **where, PartNumber=number, Body=data)
        return {"PartNumber": number, **{name: answer[name] for name in _OF_PART if name in answer}}

    def _abort(self, where: dict[str, str]) -> None:
        """What can't be aborted now stays and is billed: the bucket has no rule that would end it."""
        try:
            self._call("abort_multipart_upload", **where)
        except StoreError as error:
            print(f"nightshift: runtime: {error}", flush=True)

    def _call(self, name: str, **fields: Any) -> dict[str, Any]:
        try:
            return getattr(self._client, name)(Bucket=self._bucket, **fields)
        except (ClientError, BotoCoreError) as error:
            raise StoreError(f"{name} of {fields.get('Key', fields.get('Prefix'))}: {error}") from error


def _lost(error: BaseException | None) -> bool:
    """Somebody else's pack came first, or comes at this moment."""
    told = error.response["Error"]["Code"] if isinstance(error, ClientError) else ""
    return told in {"PreconditionFailed", "ConditionalRequestConflict"}
