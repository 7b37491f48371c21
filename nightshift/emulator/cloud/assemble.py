"""Put the pieces around moto together."""

from __future__ import annotations

from typing import Any

from nightshift.emulator.cloud.gate import Gate, Judge, Log
from nightshift.emulator.cloud.server import Options
from nightshift.emulator.cloud.services import handlers, patch_moto
from nightshift.emulator.cloud.services.images import add_images
from nightshift.emulator.cloud.state import STATE


def assemble(moto: Any, options: Options) -> Any:
    """moto patched and behind the gate."""
    patch_moto()
    add_images(options.images)
    STATE.quotas.update(options.quotas or {})
    judges: tuple[Judge, ...] = ()
    return Gate(moto, handlers(), judges, Log(options.log))
