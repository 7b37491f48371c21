"""Put the pieces around moto together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nightshift.emulator.cloud import CONTROL
from nightshift.emulator.cloud.call import Environ, StartResponse
from nightshift.emulator.cloud.gate import Gate, Judge, Log
from nightshift.emulator.cloud.server import Options


def assemble(moto: Any, options: Options) -> Any:
    """moto patched and behind the gate."""
    log = Log(options.log)
    judges: tuple[Judge, ...] = ()
    return Gate(moto, judges, log)
