"""The command line's only way to AWS: a session, its clients, and the site's account and bucket."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

import boto3
from botocore.config import Config

from nightshift.cli.endpoints import judge, masked
from nightshift.cli.errors import AwsError
from nightshift.cli.failures import from_aws
from nightshift.cli.portals import refuse_pages
from nightshift.plan import names
from nightshift.records.store import Records

T = TypeVar("T")
_PATIENCE = Config(connect_timeout=5, read_timeout=20, retries={"mode": "standard", "total_max_attempts": 4})
_WORKERS = 8


class Aws:
    """Clients of one region. The SDK reads this process's environment; another `env` is handed to it."""

    def __init__(self, region: str, profile: str | None, env: Mapping[str, str]) -> None:
        judge(env)
        keys = _keys(env)
        chosen = None if env.get("AWS_PROFILE") or env.get("AWS_ACCESS_KEY_ID") else profile
        self.region = region
        self._endpoint = env.get("AWS_ENDPOINT_URL") if env is not os.environ else None
        self._session: Any = boto3.Session(region_name=region, profile_name=chosen, **keys)
        self._clients: dict[str, Any] = {}
        self._lock = Lock()

    def client(self, service: str, region: str | None = None) -> Any:
        """The service's client, made once; making one isn't thread-safe, using it is."""
        with self._lock:
            key = f"{service}/{region or self.region}"
            if key not in self._clients:
                self._clients[key] = self._made(service, region or self.region)
            return self._clients[key]

    def _made(self, service: str, region: str) -> Any:
        try:
            made = self._session.client(
                service, region_name=region, endpoint_url=self._endpoint, config=_PATIENCE
            )
            return refuse_pages(made)
        except ValueError as error:
            known = from_aws(error) or AwsError(
                f"the AWS client of {service} can't be made", masked(str(error))
            )
            raise known from error

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


def _keys(env: Mapping[str, str]) -> dict[str, Any]:
    """Credentials that `env` itself holds, when it isn't the process's own."""
    key, secret = env.get("AWS_ACCESS_KEY_ID"), env.get("AWS_SECRET_ACCESS_KEY")
    if env is os.environ or not (key and secret):
        return {}
    token = {"aws_session_token": env["AWS_SESSION_TOKEN"]} if env.get("AWS_SESSION_TOKEN") else {}
    return {"aws_access_key_id": key, "aws_secret_access_key": secret, **token}


def together(calls: Sequence[Callable[[], T]]) -> list[T]:
    """The calls' results in order, asked at the same time; the first error is raised."""
    if not calls:
        return []
    with ThreadPoolExecutor(min(_WORKERS, len(calls))) as pool:
        return list(pool.map(lambda call: call(), calls))
