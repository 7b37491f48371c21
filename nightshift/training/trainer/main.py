"""From flags to a run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import TracebackType

import torch
from torch.nn.parallel import DistributedDataParallel

from nightshift.training import job as contract
from nightshift.training import rng
from nightshift.training.errors import TrainingError
from nightshift.training.given import checkpoint_folder
from nightshift.training.job import Outcome
from nightshift.training.journal import Journal
from nightshift.training.loader import Loader, divide
from nightshift.training.mirror import Copies
from nightshift.training.run import Drained, Run
from nightshift.training.trainer import memory, models, work
from nightshift.training.trainer.compiling import CompileCache
from nightshift.training.trainer.data import Data, find_data
from nightshift.training.trainer.evaluation import Evaluation
from nightshift.training.trainer.flags import Options, parse
from nightshift.training.trainer.gpu import Sampler
from nightshift.training.trainer.loop import Engine, Loop, records_folder
from nightshift.training.trainer.place import Place, entered, precision_at, settle
from nightshift.training.trainer.records import Records
from nightshift.training.trainer.schedule import factor
from nightshift.training.trainer.watch import LossWatch
from nightshift.training.values import refuse_wrong

WRONG_FLAGS = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 finished, 75 drained, 1 failed, 2 wrong flags."""
    try:
        options = parse(sys.argv[1:] if arguments is None else arguments)
    except TrainingError as error:
        _print(error)
        return WRONG_FLAGS
    sys.excepthook = _without_traceback(sys.excepthook)
    try:
        settle(deterministic=options.deterministic)
        with entered(options.timeout_s) as place:
            try:
                train(options, place)
            except (RuntimeError, MemoryError) as error:
                if not memory.is_shortage(error):
                    raise
                raise TrainingError(*_advice(options, place)) from None
    except TrainingError as error:
        sys.excepthook(TrainingError, error, error.__traceback__)
        return contract.FAILED
    return contract.FINISHED


def train(options: Options, place: Place) -> None:
    """One launch."""
    folder = checkpoint_folder(options.folder)
    side = models.side_of(options.model, options.side)
    data = _checked(options, side, place.world)
    keep_kernels = _kernels(options, place, folder)
    loader = Loader(
        data.training,
        batch=options.batch,
        micro_batch=options.micro_batch,
        seed=options.seed,
        workers=options.workers,
    )
    total = loader.steps(options.training_epochs) if options.training_epochs else options.steps or 0
    engine = _engine(options, place, side, data.classes, total)
    watch = LossWatch()
    spoken: list[Callable[[], str]] = []
    run = Run(
        model=engine.model,
        optimizer=engine.optimizer,
        scheduler=engine.scheduler,
        scaler=engine.scaler,
        loader=loader,
        steps=total,
        folder=folder,
        keep=options.keep,
        save_every_s=options.save_every_s,
        save_every_steps=options.save_every_steps,
        mirror=_mirror(options),
        about=_about(options),
        before_save=watch.settle,
        last_words=lambda: run.note("shift", achieved=spoken[0]()),
    )
    if run.step:
        _refuse_other_rates(engine)
    records = Records(
        records_folder(folder) if place.leads else None,
        Journal(None, speaks=place.leads),
        step=run.step,
        tensorboard=options.tensorboard,
    )
    evaluation = None
    if data.evaluation is not None:
        evaluation = Evaluation(data.evaluation, place, engine.precision, loader.share.micro, options.workers)
    flops = work.training_flops(options.model, side=side, classes=data.classes) if place.leads else 0
    loop = Loop(engine, run, evaluation, records, flops, keep_kernels, watch, Sampler(place.device))
    spoken.append(loop.speak)
    loop.go()


def _checked(options: Options, side: int, world: int) -> Data:
    """TrainingError with all that is wrong."""
    wrong = [fault] if (fault := models.side_fault(options.model, options.side)) else []
    found = []
    for check in (
        lambda: divide(options.batch, world, options.micro_batch),
        lambda: found.append(find_data(options, side)),
    ):
        try:
            check()
        except TrainingError as error:
            wrong += error.problems
    if wrong:
        raise TrainingError(*wrong)
    return found[0]


def _engine(options: Options, place: Place, side: int, classes: int, total: int) -> Engine:
    rng.seed_all(options.seed)
    model: torch.nn.Module = models.build(
        options.model, side=side, classes=classes, recompute=options.recompute
    ).to(place.device)
    precision = precision_at(options.precision, place)
    if options.compile != "off":
        model.compile(mode=None if options.compile == "default" else options.compile)
    groups = models.parameter_groups(model, options.weight_decay)
    if place.world > 1:
        ids = [place.device.index] if place.device.type == "cuda" else None
        model = DistributedDataParallel(model, device_ids=ids, gradient_as_bucket_view=True)
    rng.seed_all(options.seed + 1 + place.rank)
    optimizer = torch.optim.AdamW(groups, lr=options.lr, betas=(0.9, 0.999), fused=True)
    rate = partial(factor, total=total, warmup=options.warmup_steps)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate(step))
    return Engine(model, optimizer, scheduler, precision.scaler(), place, precision, options)


def _refuse_other_rates(engine: Engine) -> None:
    """TrainingError for flags that the loaded optimizer and scheduler hold a value of, and go by."""
    options = engine.options
    saved = {
        "--lr": (engine.scheduler.base_lrs[0], options.lr),
        "--weight-decay": (engine.optimizer.param_groups[0]["weight_decay"], options.weight_decay),
    }
    refuse_wrong(
        *(
            f"{flag}: {then} when it was saved, {now} now; a run keeps what it began with: give "
            f"{flag} {then}, or another --folder for a new run"
            for flag, (then, now) in saved.items()
            if then != now
        )
    )


def _kernels(options: Options, place: Place, folder: Path) -> Callable[[], None]:
    """Take what earlier shifts compiled. Returns what keeps what this one compiles."""
    if options.compile == "off":
        return lambda: None
    journal = Journal(None, speaks=place.local_rank == 0)
    cache = CompileCache.at(options.compile_cache or folder.parent / "compile-cache")
    first = place.local_rank == 0
    if first:
        journal.note("kernels", begin=cache.open())
    cache.place = place.gather(cache.place)[place.rank - place.local_rank]
    cache.use()

    def keep() -> None:
        try:
            if first and (size := cache.keep()):
                journal.note("kernels-kept", bytes=size)
        except OSError as error:
            journal.note("kernels-not-kept", reason=error.strerror)

    return keep


def _mirror(options: Options) -> Copies | None:
    if options.mirror is None:
        return None
    try:
        from nightshift.training.s3 import S3Copies
    except ImportError:
        raise TrainingError("--mirror: needs boto3; install it, or leave the flag out") from None
    return S3Copies(options.mirror)


def _about(options: Options) -> dict[str, object]:
    return {name: str(one) if isinstance(one, Path) else one for name, one in asdict(options).items()}


def _advice(options: Options, place: Place) -> tuple[str, ...]:
    own = options.batch // place.world
    micro = min(own, options.micro_batch or own)
    return memory.advice(memory.measured(place.device, micro, options.recompute))


Hook = Callable[[type[BaseException], BaseException, TracebackType | None], object]


def _without_traceback(before: Hook) -> Hook:
    """What a user can mend is told in sentences, and to the node when no run has begun that would do it."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not isinstance(error, TrainingError):
            before(kind, error, trace)
            return
        _print(error)
        job = contract.from_environment()
        if job.folder and not (job.folder / "outcome.json").exists():
            job.conclude(Outcome("failed", 0, 0, None, False, f"TrainingError: {error.problems[0]}"))

    return hook


def _print(error: TrainingError) -> None:
    for problem in error.problems:
        print(f"nightshift: {problem}", file=sys.stderr)


__all__ = ["Drained", "main", "train"]
