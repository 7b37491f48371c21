"""What the trainer can be told. Everything wrong is said at once."""

from __future__ import annotations

import argparse
import difflib
import functools
import math
import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, NoReturn

from nightshift.training.errors import TrainingError

MODELS = ("vit-b16", "vit-s16", "vit-ti16", "vit-toy")
PRECISIONS = ("auto", "fp32", "bf16", "fp16")
COMPILE_MODES = ("off", "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
SYNTHETIC = "synthetic"
Check = Callable[[Any], str | None]


def at_least(lowest: float) -> Check:
    return lambda value: None if value >= lowest else f"at least {lowest:g}"


def between(lowest: int, highest: int) -> Check:
    return lambda value: None if lowest <= value <= highest else f"from {lowest} to {highest}"


def above_zero(value: float) -> str | None:
    return None if value > 0 else "more than 0"


def below_one(value: float) -> str | None:
    return None if 0 <= value < 1 else "from 0 to less than 1"


def one_of(*names: str) -> Check:
    return lambda value: None if value in names else f"one of {', '.join(names)}"


@dataclass(frozen=True)
class Flag:
    """What a flag is for, and which values it takes."""

    says: str
    check: Check | None = None


@dataclass(frozen=True)
class Options:
    """All flags; `--micro-batch 64` sets `micro_batch`."""

    data: Annotated[str, Flag(f"folder with train/CLASS/FILE and val/CLASS/FILE, or {SYNTHETIC}")] = SYNTHETIC
    model: Annotated[str, Flag(f"one of {', '.join(MODELS)}", one_of(*MODELS))] = "vit-b16"
    side: Annotated[int | None, Flag("image side in pixels (default: the model's)", at_least(8))] = None
    classes: Annotated[int, Flag(f"classes of {SYNTHETIC} data", at_least(2))] = 1000
    samples: Annotated[int, Flag(f"images of {SYNTHETIC} data an epoch", at_least(1))] = 100_000
    epochs: Annotated[float | None, Flag("how long to train (or --steps; default 90 epochs)", above_zero)] = (
        None
    )
    steps: Annotated[int | None, Flag("how long to train, in optimizer steps", at_least(1))] = None
    batch: Annotated[int, Flag("images of one optimizer step, over all ranks", at_least(1))] = 1024
    micro_batch: Annotated[
        int | None, Flag("images at once on one GPU; less memory, same steps", at_least(1))
    ] = None
    lr: Annotated[float, Flag("peak learning rate", above_zero)] = 1e-3
    warmup_steps: Annotated[int, Flag("steps of linear warm-up, then cosine to 0", at_least(0))] = 1000
    weight_decay: Annotated[float, Flag("AdamW's, on matrices only", at_least(0))] = 0.05
    clip: Annotated[float, Flag("largest norm of the gradient; 0: none", at_least(0))] = 1.0
    label_smoothing: Annotated[float, Flag("of the training loss", below_one)] = 0.1
    precision: Annotated[
        str, Flag("auto: bf16 on capability 8.0 and up, else fp16; fp32 on a CPU", one_of(*PRECISIONS))
    ] = "auto"
    compile: Annotated[str, Flag(f"torch.compile: {', '.join(COMPILE_MODES)}", one_of(*COMPILE_MODES))] = (
        "off"
    )
    recompute: Annotated[
        bool, Flag("compute the layers again going backward: less memory, a third slower")
    ] = False
    seed: Annotated[int, Flag("of the weights and the order of samples", between(0, 2**63))] = 0
    deterministic: Annotated[bool, Flag("the same losses at each run on the same machine; slower")] = False
    workers: Annotated[int, Flag("processes per rank that prepare images", at_least(0))] = 8
    evaluate_every: Annotated[float, Flag("epochs between evaluations; 0: never", at_least(0))] = 1.0
    folder: Annotated[Path | None, Flag("of the checkpoints (default: NIGHTSHIFT_CHECKPOINTS)")] = None
    keep: Annotated[int, Flag("checkpoints that stay", at_least(1))] = 3
    save_every_s: Annotated[
        float | None, Flag("seconds between saves (default: from what they cost)", above_zero)
    ] = None
    save_every_steps: Annotated[int | None, Flag("steps between saves, instead", at_least(1))] = None
    mirror: Annotated[str | None, Flag("s3://bucket/prefix for copies of the checkpoints")] = None
    compile_cache: Annotated[
        Path | None, Flag("folder on a volume for compiled kernels (default: beside --folder)")
    ] = None
    log_every: Annotated[int, Flag("steps between two records", at_least(1))] = 20
    tensorboard: Annotated[bool, Flag("records for TensorBoard too")] = True
    peak_tflops: Annotated[
        float | None, Flag("one GPU's, dense, in the precision used: then MFU is told", above_zero)
    ] = None
    timeout_s: Annotated[float, Flag("how long a rank waits for the others", at_least(10))] = 600.0

    @property
    def training_epochs(self) -> float | None:
        """None when --steps says how long."""
        return None if self.steps is not None else (self.epochs or 90.0)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise TrainingError(message)


def parse(arguments: Sequence[str]) -> Options:
    """TrainingError with one sentence for each wrong flag. --help prints and exits."""
    given, unknown = _parser().parse_known_args(list(arguments))
    problems = [_unknown(word) for word in unknown if word.startswith("-")]
    if not problems:  # else it may be the value of a flag that doesn't exist
        problems = [f"{word}: nothing is expected here" for word in unknown]
    values: dict[str, Any] = {}
    for one in fields(Options):
        text = getattr(given, one.name)
        if text is not None:
            value, wrong = read(one, text)
            values[one.name] = value
            problems += [wrong] if wrong else []
    problems += _together(values)
    if problems:
        raise TrainingError(*problems)
    return Options(**values)


def read(one: Field[Any], text: str | bool) -> tuple[Any, str | None]:
    """The value, or what is wrong with it in a sentence."""
    kind = kind_of(one)
    name = _spelled(one.name)
    if isinstance(text, bool):
        return text, None
    try:
        value = kind(text)
    except ValueError:
        wanted = {int: "a whole number", float: "a number"}.get(kind, kind.__name__)
        return None, f"{name}: given {text!r}, expected {wanted}"
    if isinstance(value, float) and not math.isfinite(value):
        return None, f"{name}: given {text!r}, expected a finite number"
    check = _flag(one).check
    wrong = check(value) if check else None
    return value, f"{name}: given {text!r}, expected {wrong}" if wrong else None


def kind_of(one: Field[Any]) -> type:
    """int of `int | None`."""
    hint = typing.get_args(_hints()[one.name])[0]
    if isinstance(hint, types.UnionType):
        hint = next(part for part in typing.get_args(hint) if part is not type(None))
    return hint


def _flag(one: Field[Any]) -> Flag:
    return _hints()[one.name].__metadata__[0]


@functools.cache
def _hints() -> dict[str, Any]:
    return typing.get_type_hints(Options, include_extras=True)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="nightshift.training.trainer", description=__doc__, allow_abbrev=False)
    for one in fields(Options):
        says = _flag(one).says
        if one.default not in (None, False):
            says += f" (default: {one.default})"
        if kind_of(one) is bool:
            parser.add_argument(
                _spelled(one.name),
                action=argparse.BooleanOptionalAction,
                default=None,
                help=says,
            )
        else:
            parser.add_argument(_spelled(one.name), metavar=one.name.upper(), help=says)
    return parser


def _together(values: dict[str, Any]) -> list[str]:
    wrong = []
    if values.get("epochs") is not None and values.get("steps") is not None:
        wrong.append("--epochs and --steps: give one of them")
    if values.get("save_every_s") is not None and values.get("save_every_steps") is not None:
        wrong.append("--save-every-s and --save-every-steps: give one of them")
    return wrong


def _unknown(word: str) -> str:
    known = [_spelled(one.name) for one in fields(Options)]
    near = difflib.get_close_matches(word.partition("=")[0], known, 1)
    return f"{word}: no such flag" + (f"; did you mean {near[0]}?" if near else "; --help lists them")


def _spelled(name: str) -> str:
    return f"--{name.replace('_', '-')}"
