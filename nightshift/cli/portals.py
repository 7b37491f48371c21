"""A web page in place of AWS's answer, as a hotel's login or a proxy gives it with status 200.

The SDK's JSON readers take any text for an empty answer, its XML readers raise KeyError at a page.
"""

from __future__ import annotations

from typing import Any

from botocore.parsers import ResponseParserError


def refuse_pages(client: Any) -> Any:
    """The client, whose calls raise ResponseParserError for a page."""
    client.meta.events.register("before-parse", _look)
    return client


def _look(operation_model: Any, response_dict: Any, **_: Any) -> None:
    body = response_dict["body"]
    if response_dict["status_code"] >= 300 or not isinstance(body, bytes):
        return
    start = body[:2048].lstrip().lower()
    if start.startswith(b"<!doctype html") or (start.startswith(b"<") and b"<html" in start):
        raise ResponseParserError(
            f"{operation_model.name}: a web page came instead of AWS's answer: is a network's login page or "
            "a proxy in between, is AWS_ENDPOINT_URL right?"
        )
