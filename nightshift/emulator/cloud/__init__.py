"""The AWS that isn't: a strict, fuller emulated AWS in a process of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nightshift.emulator.cloud.process import Cloud, start_cloud

ACCOUNT = "123456789012"
CONTROL = "/nightshift-emulator"

__all__ = ["ACCOUNT", "CONTROL", "Cloud", "start_cloud"]


def __getattr__(name: str) -> object:
    """Load the process helper only when it is asked for, so that importing the package costs nothing."""
    if name in {"Cloud", "start_cloud"}:
        from nightshift.emulator.cloud import process

        return getattr(process, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
