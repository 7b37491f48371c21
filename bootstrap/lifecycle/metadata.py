"""A client of the metadata service for many looks: one token, renewed before it ends. Version 2 only."""

from __future__ import annotations

import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

TOKEN_S = 21_600
"""The longest lifetime that a token may have (EC2 User Guide, IMDSv2)."""
TIMEOUT_S = 2.0
_ANSWER_BYTES = 65_536
_DEFAULT = "http://169.254.169.254"
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True)
class Said:
    """An answer, and when the service gave it by its own clock (None where it doesn't say)."""

    text: str
    at: datetime | None


class Metadata:
    """Not for several threads. `now` is a clock that never goes back."""

    def __init__(self, endpoint: str | None = None, now: Callable[[], float] = time.monotonic) -> None:
        given = endpoint or os.environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT") or _DEFAULT
        self._endpoint = given.rstrip("/")
        self._now = now
        self._token = ""
        self._renew_at = 0.0

    def get(self, path: str) -> Said | None:
        """What stands at `path` below meta-data; None where nothing does (404).

        Raises OSError when the service can't be reached or refuses. A token that was refused is renewed once.
        """
        for last in (False, True):
            try:
                headers = {"X-aws-ec2-metadata-token": self._valid_token()}
                return self._send(f"/latest/meta-data/{path}", headers, "GET")
            except urllib.error.HTTPError as error:
                error.close()
                if error.code == 404:
                    return None
                if error.code != 401 or last:
                    raise
                self._token = ""
        raise AssertionError("the second turn returns or raises")

    def _valid_token(self) -> str:
        if not self._token or self._now() >= self._renew_at:
            headers = {"X-aws-ec2-metadata-token-ttl-seconds": str(TOKEN_S)}
            self._token = self._send("/latest/api/token", headers, "PUT").text
            self._renew_at = self._now() + TOKEN_S / 2
        return self._token

    def _send(self, path: str, headers: dict[str, str], method: str) -> Said:
        request = urllib.request.Request(self._endpoint + path, headers=headers, method=method)
        with _OPENER.open(request, timeout=TIMEOUT_S) as answer:
            text = answer.read(_ANSWER_BYTES).decode("utf-8", "replace").strip()
            return Said(text, _date(answer.headers.get("Date")))


def _date(text: str | None) -> datetime | None:
    try:
        at = parsedate_to_datetime(text) if text else None
    except ValueError:
        return None
    return at if at is not None and at.tzinfo is not None else None
