"""The control API: what a rehearsal or a test does to the emulated AWS from outside. JSON in and out.

GET  log                                 requests with service, operation, status, error, message
POST log            {}                   forget them
GET  clock                               {"now": ...}
POST clock          {"now": ISO time}    travel there, forward or back; time runs on; null: real time
POST settle         {}                   once what AWS does as time passes: hook deadlines, launches
POST faults         {"insufficient": {"g5.xlarge" | "g5.xlarge@us-east-1a" | "*": launches},
                     "throttle": {"ec2.AttachVolume" | "ec2.*": calls}}
POST quotas         {"L-DB2E81BA": vcpus}
POST capacity-block {"region", "instance_type", "zone", "count", "hours"}
POST node-credentials {"instance_id"}    session credentials of the instance's role, as IMDS gives them;
                      {"seconds"}        how long they hold, where the clock is to jump beyond six hours
GET  volumes                             volumes with size, state and attachment
GET  instances                           instances with state, and as members of groups their lifecycle state
POST instances      {"ids": [ids]}       these only
POST shutdown       {"instance_id"}      the instance has turned itself off: it ends
GET  hooks                               open lifecycle actions: instance, hook, token, deadline
POST reset          {}                   forget all resources
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from nightshift.emulator.cloud import ACCOUNT, CONTROL, clock
from nightshift.emulator.cloud.call import AwsError, Call
from nightshift.emulator.cloud.gate import Log, Refusal
from nightshift.emulator.cloud.services import capacity
from nightshift.emulator.cloud.services.reservations import add_block
from nightshift.emulator.cloud.sessions import SESSION_SECONDS, node_credentials
from nightshift.emulator.cloud.state import STATE

Body = Mapping[str, Any]


def throttled(call: Call) -> Refusal | None:
    """The judge of planned throttling; uses up one of its counts."""
    for key in (f"{call.service}.{call.name}", f"{call.service}.*"):
        if STATE.faults.throttled.get(key, 0) > 0:
            STATE.faults.throttled[key] -= 1
            code = "RequestLimitExceeded" if call.service == "ec2" else "Throttling"
            return Refusal("SlowDown" if call.service == "s3" else code, "Rate exceeded", 503, "throttle")
    return None


def _clock(body: Body) -> Body:
    if body.get("now") is not None:
        clock.set_now(datetime.fromisoformat(body["now"]))
    elif "now" in body:
        clock.back_to_real()
    return {"now": clock.now().isoformat()}


def _settle(_body: Body) -> Body:
    from moto.autoscaling.models import autoscaling_backends

    for backend in autoscaling_backends[ACCOUNT].values():
        for group in list(backend.autoscaling_groups.values()):
            capacity.expire(group)
            capacity.settle(group)
    return {}


def _faults(body: Body) -> Body:
    unknown = set(body) - {"insufficient", "throttle"}
    if unknown:
        raise ValueError(f"faults: given {sorted(unknown)}, allowed are insufficient and throttle")
    STATE.faults.insufficient.update(body.get("insufficient", {}))
    STATE.faults.throttled.update(body.get("throttle", {}))
    return asdict(STATE.faults)


def _quotas(body: Body) -> Body:
    STATE.quotas.update({code: float(value) for code, value in body.items()})
    return dict(STATE.quotas)


def _block(body: Body) -> Body:
    block = add_block(
        body["region"], body["instance_type"], body["zone"], int(body["count"]), float(body["hours"])
    )
    return {"id": block}


def _node_credentials(body: Body) -> Body:
    return node_credentials(body["instance_id"], int(body.get("seconds", SESSION_SECONDS)))


def _hooks(_body: Body) -> Body:
    rows = []
    for region, actions in STATE.actions.items():
        for key, action in actions.items():
            times = {
                name: f"{getattr(action, name):%Y-%m-%dT%H:%M:%SZ}"
                for name in ("started", "deadline", "limit")
            }
            named = {
                "region": region,
                "instance_id": key.split("/")[0],
                "hook": action.hook,
                "token": action.token,
            }
            rows.append({**named, **times, "default_result": action.default_result})
    return {"actions": rows}


def _attachment(there: Any) -> dict[str, Any]:
    """`instance_id` None when there's none; `root`: the instance boots from it."""
    if there is None or there.instance.state in ("terminated", "shutting-down"):
        return {"instance_id": None, "device": None, "root": False}
    root = there.device == there.instance.root_device_name
    return {"instance_id": there.instance.id, "device": there.device, "root": root}


def _volumes(_body: Body) -> Body:
    from moto.ec2.models import ec2_backends

    rows = []
    for region, backend in ec2_backends[ACCOUNT].items():
        for volume in list(backend.volumes.values()):
            row: dict[str, Any] = {
                "region": region,
                "id": volume.id,
                "size_gib": int(volume.size),
                "state": volume.status,
            }
            rows.append(row | _attachment(volume.attachment))
    return {"volumes": rows}


def _instances(body: Body) -> Body:
    from moto.autoscaling.models import autoscaling_backends
    from moto.ec2.models import ec2_backends

    members = {
        state.instance_id: (group.name, state.lifecycle_state)
        for backend in autoscaling_backends[ACCOUNT].values()
        for group in list(backend.autoscaling_groups.values())
        for state in list(group.instance_states)
    }
    rows = []
    for backend in ec2_backends[ACCOUNT].values():
        made = {each.id: each for one in list(backend.reservations.values()) for each in one.instances}
        for each in (made[name] for name in body.get("ids", made) if name in made):
            group, lifecycle = members.get(each.id, (None, None))
            rows.append({"id": each.id, "state": each.state, "group": group, "lifecycle": lifecycle})
    return {"instances": rows}


def _shutdown(body: Body) -> Body:
    from moto.ec2.models import ec2_backends

    for backend in ec2_backends[ACCOUNT].values():
        if backend.get_instance_by_id(body["instance_id"]) is not None:
            backend.terminate_instances([body["instance_id"]])
    return {}


def _reset(_body: Body) -> Body:
    from moto.moto_api._internal.models import moto_api_backend

    moto_api_backend.reset()
    STATE.reset()
    return {}


class Control:
    """Answers what lies below the control path."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._answers: dict[tuple[str, str], Callable[[Body], Body]] = {
            ("GET", "log"): lambda _: {"requests": [asdict(entry) for entry in log.entries()]},
            ("POST", "log"): self._clear,
            ("GET", "clock"): _clock,
            ("POST", "clock"): _clock,
            ("POST", "settle"): _settle,
            ("POST", "faults"): _faults,
            ("POST", "quotas"): _quotas,
            ("POST", "capacity-block"): _block,
            ("POST", "node-credentials"): _node_credentials,
            ("GET", "volumes"): _volumes,
            ("GET", "instances"): _instances,
            ("POST", "instances"): _instances,
            ("POST", "shutdown"): _shutdown,
            ("GET", "hooks"): _hooks,
            ("POST", "reset"): _reset,
        }

    def _clear(self, _body: Body) -> Body:
        self._log.clear()
        return {}

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of one control call; 400 with the reason when it is wrong."""
        verb = (method, path.removeprefix(CONTROL).strip("/"))
        handler = self._answers.get(verb)
        if handler is None:
            known = ", ".join(f"{m} {name}" for m, name in sorted(self._answers))
            return _json(404, {"error": f"no {verb[0]} {verb[1]} here; there are: {known}"})
        try:
            return _json(200, handler(json.loads(body or b"{}")))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return _json(400, {"error": f"{verb[1]}: {type(error).__name__}: {error}"})
        except AwsError as error:
            return _json(400, {"error": f"{error.code}: {error.message}"})


def _json(status: int, body: Body) -> tuple[int, dict[str, str], bytes]:
    return status, {"Content-Type": "application/json"}, json.dumps(body).encode()
