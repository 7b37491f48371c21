"""Everything a run is made of, as tensors by name and plain values; and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch.distributed.checkpoint.state_dict import (
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)

Tensors = dict[str, torch.Tensor]
Plain = dict[str, Any]
_TENSOR = "$tensor"


class Stateful(Protocol):
    """A scheduler, a scaler, or anything of the user's that has a state."""

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state_dict: dict[str, Any], /) -> object: ...


@dataclass(frozen=True)
class Captured:
    """`tensors` are the live ones, not copies. `shareable`: names that are equal on every rank of DDP."""

    tensors: Tensors
    plain: Plain
    shareable: frozenset[str]


@dataclass(frozen=True)
class TrainingState:
    """What is saved. `parts`: by name, what else has a state (scheduler, scaler, an average of weights)."""

    model: torch.nn.Module
    optimizers: Sequence[torch.optim.Optimizer]
    parts: Mapping[str, Stateful] = field(default_factory=dict)

    def capture(self) -> Captured:
        """References and plain values of this moment; whoever goes on training copies the tensors first."""
        tensors: Tensors = {}
        model = split(get_model_state_dict(self.model), "model", tensors)
        buffers = {f"model.{name}" for name, _ in _clean_buffers(self.model)}
        shareable = frozenset(tensors) - buffers
        optimizer = split(self._optimizer_state(), "optimizer", tensors)
        shareable |= {name for name in tensors if name.startswith("optimizer.")}
        parts = split({name: part.state_dict() for name, part in self.parts.items()}, "parts", tensors)
        return Captured(tensors, {"model": model, "optimizer": optimizer, "parts": parts}, shareable)

    def restore(self, tensors: Tensors, plain: Mapping[str, Any]) -> None:
        """Put back what `capture` gave (here or in another world)."""
        set_model_state_dict(self.model, join(plain["model"], tensors))
        if self.optimizers:
            state = join(plain["optimizer"], tensors)
            set_optimizer_state_dict(self.model, list(self.optimizers), optim_state_dict=state)
        for name, part in self.parts.items():
            part.load_state_dict(join(plain["parts"][name], tensors))

    def _optimizer_state(self) -> dict[str, Any]:
        if not self.optimizers:
            return {}
        return get_optimizer_state_dict(self.model, list(self.optimizers))


def _clean_buffers(model: torch.nn.Module) -> Iterable[tuple[str, torch.Tensor]]:
    """Buffers under the names of the saved state: wrappers (DDP, a compiled module) leave no trace."""
    for name, buffer in model.named_buffers():
        parts = [part for part in name.split(".") if part not in ("module", "_orig_mod")]
        yield ".".join(parts), buffer


def split(tree: Any, prefix: str, tensors: Tensors) -> Any:
    """The tree with each tensor moved to `tensors` under its path, and a note in its place."""
    if isinstance(tree, torch.Tensor):
        tensors[prefix] = tree
        return {_TENSOR: prefix}
    if isinstance(tree, Counter):
        return Counter(tree)
    if isinstance(tree, Mapping):
        return {key: split(value, f"{prefix}.{key}", tensors) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        items = [split(value, f"{prefix}.{index}", tensors) for index, value in enumerate(tree)]
        return tuple(items) if isinstance(tree, tuple) else items
    return tree


def join(tree: Any, tensors: Mapping[str, torch.Tensor]) -> Any:
    """The tree of before `split`. KeyError for a tensor that isn't there."""
    if isinstance(tree, Counter):
        return tree
    if isinstance(tree, Mapping):
        if set(tree) == {_TENSOR}:
            return tensors[tree[_TENSOR]]
        return {key: join(value, tensors) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        items = [join(value, tensors) for value in tree]
        return tuple(items) if isinstance(tree, tuple) else items
    return tree


def differences(
    saved: Mapping[str, tuple[int, ...]], wanted: Mapping[str, tuple[int, ...]]
) -> tuple[str, ...]:
    """How a saved state differs from the model and optimizer at hand, by name and shape."""
    missing = [f"{name}: not in the checkpoint" for name in sorted(set(wanted) - set(saved))]
    extra = [f"{name}: only in the checkpoint" for name in sorted(set(saved) - set(wanted))]
    shapes = [
        f"{name}: {list(saved[name])} in the checkpoint, {list(wanted[name])} here"
        for name in sorted(set(saved) & set(wanted))
        if tuple(saved[name]) != tuple(wanted[name])
    ]
    return (*missing, *extra, *shapes)
