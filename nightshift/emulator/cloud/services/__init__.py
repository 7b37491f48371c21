"""What moto lacks or does differently from AWS, and the one place where that is put in.

Each module gives HANDLERS (operations answered here instead of by moto) and PATCHES (replacements
inside moto, each with its reason)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from nightshift.emulator.cloud.state import Handler, Handlers, Patch


class Service(Protocol):
    """What a module of this room offers."""

    @property
    def HANDLERS(self) -> Handlers: ...
    @property
    def PATCHES(self) -> Sequence[Patch]: ...


def modules() -> tuple[Service, ...]:
    """All modules of this room; imported late, since they import moto."""
    from nightshift.emulator.cloud.services import (
        activities,
        buckets,
        budgets,
        capacity,
        dlm,
        groups,
        hooks,
        images,
        launch,
        log_events,
        managed_nodes,
        nat,
        notifications,
        parameters,
        placement_groups,
        policies,
        quotas,
        reservations,
        schedules,
        security_groups,
        templates,
        volumes,
    )

    return (
        activities,
        buckets,
        budgets,
        capacity,
        dlm,
        groups,
        hooks,
        images,
        launch,
        log_events,
        managed_nodes,
        nat,
        notifications,
        parameters,
        placement_groups,
        policies,
        quotas,
        reservations,
        schedules,
        security_groups,
        templates,
        volumes,
    )


def handlers() -> dict[tuple[str, str], Handler]:
    """Who answers which (service, operation)."""
    return {key: handler for module in modules() for key, handler in module.HANDLERS.items()}


def patch_moto() -> None:
    """Put all replacements into moto. Once per process, before the first request."""
    for module in modules():
        for patch in module.PATCHES:
            setattr(patch.owner, patch.name, patch.value)
