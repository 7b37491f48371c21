"""Lifecycle actions: which hook holds which instance, until when. Times are naive UTC."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any

from moto.core.utils import utcnow

from nightshift.emulator.cloud.call import AwsError
from nightshift.emulator.cloud.state import STATE, LifecycleAction

LAUNCHING = "autoscaling:EC2_INSTANCE_LAUNCHING"
TERMINATING = "autoscaling:EC2_INSTANCE_TERMINATING"
LONGEST_WAIT = timedelta(hours=48)
LONGEST_HEARTBEATS = 100


def _token() -> str:
    text = secrets.token_hex(16)
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def actions(group: Any, instance_id: str) -> dict[str, LifecycleAction]:
    """The open actions of an instance by hook name."""
    prefix = f"{instance_id}/"
    return {k[len(prefix) :]: a for k, a in STATE.actions[group.region].items() if k.startswith(prefix)}


def hold(group: Any, state: Any, transition: str) -> bool:
    """Open an action for each hook of the transition; False when there is no such hook."""
    now, held = utcnow(), False
    for (owner, name), hook in STATE.hooks[group.region].items():
        if owner != group.name or hook["LifecycleTransition"] != transition:
            continue
        beat = timedelta(seconds=int(hook["HeartbeatTimeout"]))
        limit = now + min(LONGEST_WAIT, LONGEST_HEARTBEATS * beat)
        action = LifecycleAction(name, _token(), now, now + beat, limit, hook["DefaultResult"])
        STATE.actions[group.region][f"{state.instance_id}/{name}"] = action
        held = True
    return held


def release(group: Any, state: Any) -> None:
    """Drop all open actions of an instance."""
    for name in actions(group, state.instance_id):
        del STATE.actions[group.region][f"{state.instance_id}/{name}"]


def find(group: Any, hook: str, token: str | None, instance_id: str | None) -> tuple[str, LifecycleAction]:
    """The open action that a call names by token or instance, with the instance's id. Raises AWS's
    error if none."""
    for key, action in STATE.actions[group.region].items():
        owner, _, name = key.partition("/")
        named = action.token == token if token else owner == instance_id
        if name == hook and named and any(s.instance_id == owner for s in group.instance_states):
            return owner, action
    what = f"token {token}" if token else f"instance ID {instance_id}"
    raise AwsError("ValidationError", f"No active Lifecycle Action found with {what}")


def beat(group: Any, hook: str, action: LifecycleAction) -> None:
    """Renew an action by the hook's heartbeat, never past its limit."""
    seconds = int(STATE.hooks[group.region][(group.name, hook)]["HeartbeatTimeout"])
    action.deadline = min(action.limit, utcnow() + timedelta(seconds=seconds))


def complete(group: Any, instance_id: str, hook: str, result: str) -> bool:
    """Close one action; True when the instance may go on (none left, or abandoned)."""
    STATE.actions[group.region].pop(f"{instance_id}/{hook}", None)
    return result == "ABANDON" or not actions(group, instance_id)


def expired(group: Any, state: Any, now: datetime) -> str | None:
    """Close the actions past their deadline; the result with which the instance goes on, or None
    while it is held."""
    for name, action in actions(group, state.instance_id).items():
        if action.deadline <= now and complete(group, state.instance_id, name, action.default_result):
            return action.default_result
    return None
