"""Copies of checkpoints in S3. Needs boto3 (the extra `cli` brings it); nothing else here does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from nightshift.training import manifest
from nightshift.training.errors import TrainingError
from nightshift.training.files import remove_tree, sync_file
from nightshift.training.folder import Folder, name_of, step_of

_PLACE = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*))?")
DELETED_AT_ONCE = 1000  # keys in one DeleteObjects call at most


class S3Copies:
    """`place`: s3://bucket/prefix, one run. `keep`: how many copies stay. A copy without manifest is none."""

    def __init__(self, place: str, *, keep: int = 2, client: Any = None) -> None:
        found = _PLACE.fullmatch(place)
        if found is None:
            raise TrainingError(f"mirror: given {place!r}, expected s3://bucket or s3://bucket/prefix")
        if keep < 1:
            raise TrainingError(f"mirror: keep is {keep}, at least 1 copy must stay")
        self._bucket = found.group(1)
        self._prefix = f"{(found.group(2) or '').strip('/')}/".lstrip("/")
        self._keep = keep
        self._s3 = client or boto3.client("s3")

    def push(self, checkpoint: Path) -> None:
        """Upload all files, the manifest last, so that a copy that has one is whole; then drop old copies."""
        listing = manifest.read(checkpoint)
        for name in (*listing.files, manifest.NAME):
            self._s3.upload_file(
                str(checkpoint / name), self._bucket, f"{self._prefix}{checkpoint.name}/{name}"
            )
        for step in self._steps()[self._keep :]:
            self._drop(step)

    def pull(self, folder: Path) -> str | None:
        """The newest copy that arrives whole, under its name in `folder`. TrainingError if S3 can't say."""
        place = Folder(folder, keep=1)
        wrong: list[str] = []
        try:
            for step in self._steps():
                draft = self._fetched(place, step)
                faults = manifest.faults(draft, hashes=True)
                if not faults:
                    return self._committed(place, draft, step)
                remove_tree(draft)
                wrong.append(f"{name_of(step)}: {'; '.join(faults)}")
        except (BotoCoreError, ClientError) as error:
            raise TrainingError(f"s3://{self._bucket}/{self._prefix}: {error}") from error
        if wrong:
            raise TrainingError(f"s3://{self._bucket}/{self._prefix}: none of its copies is whole", *wrong)
        return None

    def _committed(self, place: Folder, draft: Path, step: int) -> str:
        for path in draft.iterdir():
            sync_file(path)
        final = place.root / name_of(step)
        if final.exists():
            place.set_aside(final)
        return place.commit(draft, step).name

    def _fetched(self, place: Folder, step: int) -> Path:
        draft = place.draft(step)
        remove_tree(draft)
        draft.mkdir()
        root = f"{self._prefix}{name_of(step)}/"
        for key in self._keys(root):
            name = key.removeprefix(root)
            if "/" not in name and name:
                self._s3.download_file(self._bucket, key, str(draft / name))
        return draft

    def _steps(self) -> list[int]:
        """Of the copies with a manifest, newest first."""
        ends = f"/{manifest.NAME}"
        named = [key.removeprefix(self._prefix) for key in self._keys(self._prefix) if key.endswith(ends)]
        found = [step_of(name.removesuffix(ends)) for name in named]
        return sorted((step for step in found if step is not None), reverse=True)

    def _drop(self, step: int) -> None:
        """The manifest first: what is left of a copy half dropped isn't one."""
        root = f"{self._prefix}{name_of(step)}/"
        self._s3.delete_object(Bucket=self._bucket, Key=f"{root}{manifest.NAME}")
        rest = list(self._keys(root))
        for first in range(0, len(rest), DELETED_AT_ONCE):
            keys = rest[first : first + DELETED_AT_ONCE]
            self._s3.delete_objects(Bucket=self._bucket, Delete={"Objects": [{"Key": key} for key in keys]})

    def _keys(self, prefix: str) -> Iterator[str]:
        pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix)
        return (one["Key"] for page in pages for one in page.get("Contents", []))
