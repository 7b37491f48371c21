"""What the emulated AWS knows beyond moto, in one place, so that it can be reset in one step. Times
are naive UTC."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import ModuleType
from typing import Any

from nightshift.emulator.cloud.call import Call

Handler = Callable[[Call], Mapping[str, Any] | None]
Handlers = Mapping[tuple[str, str], Handler]

# vCPUs per region until changed; real accounts start at 0, which would let nothing be tried.
DEFAULT_VCPU_QUOTA = 4096.0


@dataclass(frozen=True)
class Patch:
    """A replacement inside moto, and why moto alone does not do."""

    owner: type | ModuleType
    name: str
    value: Any
    reason: str


@dataclass
class LifecycleAction:
    """A hook that holds an instance. `token` is what CompleteLifecycleAction may name."""

    hook: str
    token: str
    started: datetime
    deadline: datetime
    limit: datetime
    default_result: str


@dataclass
class Faults:
    """Faults to come. Counts are used up; `insufficient` maps an instance type or `*` to a number of
    launches."""

    insufficient: dict[str, int] = field(default_factory=dict)
    throttled: dict[str, int] = field(default_factory=dict)


Row = dict[str, Any]
Table = dict[str, dict[str, Row]]


def _table() -> Any:
    return defaultdict(dict)


@dataclass
class State:
    """Tables by region, then by id or name."""

    policies: Table = field(default_factory=_table)
    placement_groups: Table = field(default_factory=_table)
    schedules: dict[str, dict[tuple[str, str], Row]] = field(default_factory=_table)
    hooks: dict[str, dict[tuple[str, str], Row]] = field(default_factory=_table)
    notifications: dict[str, dict[tuple[str, str, str], Row]] = field(default_factory=_table)
    activities: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    actions: dict[str, dict[str, LifecycleAction]] = field(default_factory=lambda: defaultdict(dict))
    scaling_policies: dict[str, dict[tuple[str, str], Row]] = field(default_factory=_table)
    reservations: Table = field(default_factory=_table)
    budgets: dict[str, dict[str, Any]] = field(default_factory=dict)
    quotas: dict[str, float] = field(default_factory=dict)
    faults: Faults = field(default_factory=Faults)
    answered: dict[tuple[str, str, str], tuple[int, list[tuple[str, str]], bytes]] = field(
        default_factory=dict
    )
    """Status, headers and body by region, operation and client token."""

    def reset(self) -> None:
        """Forget everything but the quotas."""
        fresh = State(quotas=self.quotas)
        self.__dict__.update(fresh.__dict__)


STATE = State()
