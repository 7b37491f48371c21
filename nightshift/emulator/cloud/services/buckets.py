"""Bucket policies are judged at the gate, with conditions and principals; moto's own judging is
switched off."""

from __future__ import annotations

from typing import Any

from moto.s3.models import FakeBucket

from nightshift.emulator.cloud.state import Handlers, Patch


def _neutral(_self: Any, _action: str, _resource: str) -> Any:
    from moto.iam.access_control import PermissionResult

    return PermissionResult.NEUTRAL


HANDLERS: Handlers = {}
PATCHES = (
    Patch(
        FakeBucket,
        "get_permission",
        _neutral,
        "moto takes conditions that it does not know as met, so a Deny without TLS denies everything",
    ),
)
