"""Put the pieces around moto together."""

from __future__ import annotations

from typing import Any

from nightshift.emulator.cloud.authority import authority
from nightshift.emulator.cloud.call import Call
from nightshift.emulator.cloud.control import Control, throttled
from nightshift.emulator.cloud.gate import Gate, Judge, Log, Refusal
from nightshift.emulator.cloud.refusals import refusal
from nightshift.emulator.cloud.server import Options
from nightshift.emulator.cloud.services import handlers, patch_moto
from nightshift.emulator.cloud.services.images import add_images
from nightshift.emulator.cloud.state import STATE
from nightshift.emulator.cloud.strict import verdict


def _model(call: Call) -> Refusal | None:
    shape = call.operation.input_shape if call.operation is not None else None
    found = verdict(call.service, shape, call.params)
    return None if found is None else Refusal(*found, rule="model")


def _table(call: Call) -> Refusal | None:
    found = refusal(call)
    return None if found is None else Refusal(found[0].code, found[1], rule=found[0].name)


# As on AWS: who may ask comes before whether the question makes sense.
JUDGES: tuple[Judge, ...] = (throttled, authority, _model, _table)


def assemble(moto: Any, options: Options) -> Gate:
    """moto patched, behind the gate."""
    patch_moto()
    add_images(options.images)
    STATE.quotas.update(options.quotas or {})
    log = Log(options.log)
    return Gate(moto, handlers(), JUDGES, log, Control(log).answer)
