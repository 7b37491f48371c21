"""Addresses of AWS that the environment gives: judged before the SDK takes them, told without passwords."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from nightshift.cli.errors import AwsError

ENDPOINT = "AWS_ENDPOINT_URL"
_IGNORED = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"
_LOGIN = re.compile(r"://\S*@")
_EXPECTED = "expected such as http://127.0.0.1:5000; unset it to ask AWS itself"


def masked(text: str) -> str:
    """`text` without the user and password of a URL in it; a bare @ further on goes with them."""
    return _LOGIN.sub("://***@", text)


def judge(env: Mapping[str, str]) -> None:
    """Return when every endpoint of the environment is a URL. Raises AwsError with all that aren't."""
    if env.get(_IGNORED, "").lower() == "true":
        return
    given = {key: url for key, url in sorted(env.items()) if url and f"{key}_".startswith(f"{ENDPOINT}_")}
    wrong = [f"{key}: given {_bare(url)!r}, {why}" for key, url in given.items() if (why := _flaw(url))]
    if wrong:
        raise AwsError(*wrong, _EXPECTED)


def _bare(url: str) -> str:
    """The variable's whole text without what stands before its last @, wherever a slip puts that."""
    before, at, rest = url.rpartition("@")
    if not at:
        return url
    scheme, mark, _ = before.partition("://")
    return f"{scheme}://***@{rest}" if mark else f"***@{rest}"


def _flaw(url: str) -> str:
    """What is wrong with it; nothing if nothing is. Says no part of it: one could be a password."""
    if any(sign.isspace() or not sign.isprintable() for sign in url):
        return "but a URL has no spaces"
    try:
        parts = urlsplit(url)
    except ValueError:
        return "whose brackets don't match"
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return "but a URL begins with http:// or https://"
    try:
        port = parts.port
    except ValueError:
        return "whose port is no number from 1 to 65535"
    if port == 0:
        return "whose port is no number from 1 to 65535"
    return "" if parts.hostname else "which names no host"
