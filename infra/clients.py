"""The program's only way to AWS: read-only boto3 clients for the account that Pulumi's provider uses."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, ProfileNotFound
from botocore.parsers import ResponseParserError

_CONNECT_S, _READ_S = 5, 20
"""A laptop without network learns it in 15 s with the retries."""
_LONGEST_SAID = 300
_THROTTLED = (
    "Throttling",
    "ThrottlingException",
    "RequestLimitExceeded",
    "TooManyRequestsException",
    "SlowDown",
)
_GONE = frozenset({"404", "NotFound", "NotFoundException", "NoSuchBucket"})


class CannotReadAws(Exception):
    """AWS can't be asked; the message says what, why and what to do."""


@dataclass(frozen=True)
class AwsSettings:
    """What the stack file says to the AWS provider, as far as it decides which account is asked."""

    region: str
    profile: str | None = None
    access_key: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    endpoints: Mapping[str, str] = field(default_factory=dict)
    path_style: bool = False


def aws_settings(get: Callable[[str], str | None], region: str) -> AwsSettings:
    """Read the provider's own keys; `get` answers for `aws:KEY`. Raises CannotReadAws."""
    if any(get(key) for key in ("assumeRole", "assumeRoles", "assumeRoleWithWebIdentity")):
        raise CannotReadAws(
            "aws:assumeRoles is set: nightshift reads what is alive with the provider's credentials and "
            "takes them from a profile; put role_arn and source_profile in ~/.aws/config and set aws:profile"
        )
    return AwsSettings(
        region=region,
        profile=get("profile"),
        access_key=get("accessKey"),
        secret_key=get("secretKey"),
        token=get("token"),
        endpoints=_endpoints(get("endpoints")),
        path_style=(get("s3UsePathStyle") or "").lower() == "true",
    )


def _endpoints(raw: str | None) -> dict[str, str]:
    """`aws:endpoints` is a list of maps, or one map: `[{ec2: URL}, {s3: URL}]`."""
    if not raw:
        return {}
    try:
        value = json.loads(raw)
        maps = value if isinstance(value, list) else [value]
        return {str(name): str(url) for each in maps for name, url in each.items()}
    except (ValueError, AttributeError):
        raise CannotReadAws(
            f"aws:endpoints: given {raw[:60]!r}, expected a list such as [{{ec2: https://..., s3: https://...}}]"
        ) from None


class Clients:
    """Clients by service name, made once each; all from one session, so that credentials are found once."""

    def __init__(
        self, settings: AwsSettings, session_factory: Callable[..., boto3.Session] = boto3.Session
    ) -> None:
        """Raises CannotReadAws for an unknown profile."""
        self._settings = settings
        self._made: dict[str, Any] = {}
        try:
            self._session = session_factory(
                region_name=settings.region,
                profile_name=settings.profile,
                aws_access_key_id=settings.access_key,
                aws_secret_access_key=settings.secret_key,
                aws_session_token=settings.token,
            )
        except ProfileNotFound as error:
            raise CannotReadAws(
                f"aws:profile: {error}; write it into ~/.aws/config or leave aws:profile out"
            ) from None

    def __call__(self, service: str) -> Any:
        """The client of `service`; not to be called from two threads at once. Raises CannotReadAws."""
        if service not in self._made:
            make: Any = self._session.client
            endpoint = self._settings.endpoints.get(service)
            try:
                client = make(service, endpoint_url=endpoint, config=self._config())
            except ValueError as error:
                raise CannotReadAws(
                    f"AWS: {error}; write a whole URL into aws:endpoints or AWS_ENDPOINT_URL"
                ) from None
            # Reads the service's page rules now: threads that use it at once would each search for them.
            client.can_paginate(next(iter(client.meta.method_to_api_mapping)))
            self._made[service] = client
        return self._made[service]

    def _config(self) -> Config:
        return Config(
            connect_timeout=_CONNECT_S,
            read_timeout=_READ_S,
            retries={"mode": "standard", "max_attempts": 3},
            s3={"addressing_style": "path"} if self._settings.path_style else None,
            max_pool_connections=32,
        )


def is_gone(error: ClientError) -> bool:
    """Whether AWS says that the thing asked for isn't there."""
    return str(error.response.get("Error", {}).get("Code")) in _GONE


def explain(error: BotoCoreError | ClientError | ResponseParserError) -> str:
    """One line: what AWS or its client said, and what to do about it."""
    if isinstance(error, NoCredentialsError):
        return (
            "AWS: no credentials were found, so what is alive can't be looked up and nothing was changed; "
            "run `aws sso login` or `aws configure`, or set AWS_PROFILE or aws:profile"
        )
    if isinstance(error, ClientError):
        return _refused(error)
    return (
        f"AWS can't be reached, so what is alive can't be looked up and nothing was changed: {_line(error)}; "
        "check the network, aws:region, aws:endpoints and the login of the profile"
    )


def _line(said: object) -> str:
    """What a proxy or AWS said, on one line and no longer than people read."""
    text = " ".join(str(said).split())
    return text if len(text) <= _LONGEST_SAID else f"{text[:_LONGEST_SAID]}..."


def _refused(error: ClientError) -> str:
    said = error.response.get("Error", {})
    code, message = said.get("Code", "error"), _line(said.get("Message", ""))
    advice = {
        "ExpiredToken": "log in again",
        "ExpiredTokenException": "log in again",
        "InvalidClientTokenId": "check the access key and the account it is for",
        "SignatureDoesNotMatch": "check the secret key and this machine's clock",
        "OptInRequired": "enable the region or service for the account",
        "SubscriptionRequiredException": "enable the region or service for the account",
        **dict.fromkeys(_THROTTLED, "wait a minute and run it again"),
        "AuthFailure": "check the access key, and that the region is enabled for the account",
    }.get(str(code), "give the caller the right to call it (nightshift reads before it declares)")
    return f"AWS refused {error.operation_name}: {code}: {message}; nothing was changed; {advice}"
