"""The command line's only way to AWS: a session, its clients, and the site's account and bucket."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

import boto3
from botocore.config import Config

from nightshift.plan import names
from nightshift.records.store import Records

T = TypeVar("T")
_PATIENCE = Config(connect_timeout=5, read_timeout=20, retries={"mode": "standard", "total_max_attempts": 4})
_WORKERS = 8


class Aws:
    """Clients of one region. `AWS_ENDPOINT_URL` is honoured by the SDK itself."""

    def __init__(self, region: str, profile: str | None, env: Mapping[str, str]) -> None:
        chosen = None if env.get("AWS_PROFILE") or env.get("AWS_ACCESS_KEY_ID") else profile
        self.region = region
        self._session: Any = boto3.Session(region_name=region, profile_name=chosen)
        self._clients: dict[str, Any] = {}
        self._lock = Lock()

    def client(self, service: str, region: str | None = None) -> Any:
        """The service's client, made once; making one isn't thread-safe, using it is."""
        with self._lock:
            key = f"{service}/{region or self.region}"
            if key not in self._clients:
                self._clients[key] = self._session.client(
                    service, region_name=region or self.region, config=_PATIENCE
                )
            return self._clients[key]

    def has_credentials(self) -> bool:
        """Whether any are configured; says nothing about whether they work."""
        return self._session.get_credentials() is not None

    def account(self) -> str:
        """The account id that the credentials belong to."""
        return str(self.identity()["Account"])

    def identity(self) -> Mapping[str, str]:
        """Who the credentials say we are."""
        answer: Mapping[str, str] = self.client("sts").get_caller_identity()
        return answer

    def records(self, site: str, account: str | None = None) -> Records:
        """The site's records; its bucket's name is a function of site, account and region."""
        bucket = names.bucket_name(site, "data", account or self.account(), self.region)
        return Records(self.client("s3"), bucket)


def together(calls: Sequence[Callable[[], T]]) -> list[T]:
    """The calls' results in order, asked at the same time; the first error is raised."""
    if not calls:
        return []
    with ThreadPoolExecutor(min(_WORKERS, len(calls))) as pool:
        return list(pool.map(lambda call: call(), calls))
