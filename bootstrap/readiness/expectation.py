"""What a node should look like, from the catalog by its type. What isn't known there is not expected."""

from __future__ import annotations

from dataclasses import dataclass

from bootstrap.readiness.reading import Unreadable
from bootstrap.readiness.situation import Situation
from nightshift.catalog.gpus import GPUS, Gpu
from nightshift.catalog.instance_types import InstanceType, instance_types
from nightshift.catalog.runtimes import RUNTIMES, Runtime
from nightshift.catalog.suggest import unknown

_VENDOR = "/sys/class/dmi/id/sys_vendor"
_KNOWN = "`python -m bootstrap verify` with a newer release may know it; else take another type"


class Unknown(Exception):
    """Nothing can be expected; `expected`, `found` and `remedy` go into the finding."""

    def __init__(self, expected: str, found: str, remedy: str) -> None:
        super().__init__(found)
        self.expected, self.found, self.remedy = expected, found, remedy


@dataclass(frozen=True)
class Expectation:
    """`kind` and `gpu` are None on a machine that isn't an instance: its own cards say what they are.

    `cards` is how many GPUs there must be, None for one or more; `efa` how many EFA devices, 0 for not
    asked; `switched` whether the cards share NVLink switches; `nodes` of the group.
    """

    kind: InstanceType | None
    gpu: Gpu | None
    cards: int | None
    switched: bool
    efa: int
    nodes: int
    runtime: Runtime | None

    @property
    def wants_gpu(self) -> bool:
        """False for a runtime that computes on the CPU."""
        return self.runtime is None or self.runtime.cuda is not None


def expectation(situation: Situation) -> Expectation:
    """What to expect. Raises Unknown when the type, its GPU or the runtime isn't in the catalog."""
    runtime = _runtime(situation.preset)
    kind = _kind(situation)
    if kind is None:
        return Expectation(None, None, None, False, 0, 1, runtime)
    gpu = _gpu(kind)
    manifest = situation.manifest
    efa = kind.efa_max_interfaces or 0 if manifest and manifest.efa else 0
    return Expectation(
        kind=kind,
        gpu=gpu,
        cards=int(kind.gpu_count),
        switched=kind.cells["nvswitch"] == "yes",
        efa=efa,
        nodes=manifest.nodes if manifest else 1,
        runtime=runtime,
    )


def _runtime(name: str | None) -> Runtime | None:
    if name is None:
        return None
    if name not in RUNTIMES:
        known = f"one of {', '.join(RUNTIMES)}"
        raise Unknown(known, f'the runtime "{name}"', "name a runtime that this agent knows")
    return RUNTIMES[name]


def _kind(situation: Situation) -> InstanceType | None:
    if situation.instance is None:
        return _no_instance(situation)
    name, types = situation.instance.type, instance_types()
    if name not in types:
        raise Unknown("a type of the GPU catalog", unknown("type", name, types, "the catalog"), _KNOWN)
    allowed = situation.manifest.instance_types if situation.manifest else (name,)
    if name not in allowed:
        raise Unknown(
            f"one of the group's types: {', '.join(allowed)}",
            f'"{name}"',
            "run `pulumi up`: the group's launch template and its manifest differ",
        )
    return types[name]


def _no_instance(situation: Situation) -> None:
    """Without metadata it may be any machine, but neither a group's node nor an instance of EC2."""
    answer = "no answer from the instance metadata service"
    if situation.manifest is not None:
        raise Unknown(
            "an instance type", answer, "allow the metadata service (IMDSv2) in the launch template"
        )
    if _on_ec2(situation):
        raise Unknown("an instance type", f"{answer}, on EC2", "allow the metadata service (IMDSv2)")


def _on_ec2(situation: Situation) -> bool:
    try:
        return situation.read(_VENDOR).strip() == "Amazon EC2"
    except Unreadable:
        return False


def _gpu(kind: InstanceType) -> Gpu:
    whole = kind.gpu_count == int(kind.gpu_count)
    if not whole or kind.gpu_model not in GPUS:
        what = f"{kind.gpu_count} of a {kind.gpu_model}" if not whole else kind.gpu_model
        raise Unknown("whole cards of a model with known needs", f"{kind.name} with {what}", _KNOWN)
    return GPUS[kind.gpu_model]
