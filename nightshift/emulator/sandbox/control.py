"""The emulated AWS's control API, as a sandbox asks it."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from nightshift.emulator.cloud import CONTROL

ANSWER_S = 30.0
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Refused(Exception):
    """The emulated AWS said no; the text is its own."""


def control(endpoint: str, path: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
    """GET without a body, POST with one. Raises Refused, OSError when it isn't reached."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{endpoint}{CONTROL}/{path}", data=data)
    try:
        with _OPENER.open(request, timeout=ANSWER_S) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            raise Refused(error.read().decode(errors="replace")) from None
