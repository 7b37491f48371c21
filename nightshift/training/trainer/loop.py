"""The training loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch.nn.parallel import DistributedDataParallel

from nightshift.training.run import Run
from nightshift.training.trainer.evaluation import Evaluation, Scores
from nightshift.training.trainer.flags import Options
from nightshift.training.trainer.gpu import Sampler
from nightshift.training.trainer.place import Place, Precision
from nightshift.training.trainer.records import Records
from nightshift.training.trainer.summary import Achieved
from nightshift.training.trainer.watch import LossWatch
from nightshift.training.trainer.work import utilisation

GRAPHED = ("reduce-overhead", "max-autotune")  # what such a model returned is overwritten by its next call
CACHE_AFTER_STEPS = 3  # by then a step has been compiled


@dataclass
class Engine:
    """What a step needs. `model` is wrapped; `parts` micro-batches make a step."""

    model: torch.nn.Module
    optimizer: torch.optim.Optimizer
    scheduler: torch.optim.lr_scheduler.LRScheduler
    scaler: torch.amp.GradScaler | None
    place: Place
    precision: Precision
    options: Options

    @property
    def core(self) -> torch.nn.Module:
        """Without DDP around it."""
        return self.model.module if isinstance(self.model, DistributedDataParallel) else self.model

    def forward_backward(
        self, images: torch.Tensor, labels: torch.Tensor, parts: int, last: bool
    ) -> torch.Tensor:
        """Add one micro-batch's gradients; ranks exchange them at the step's last. The loss's part."""
        images = images.to(self.place.device, non_blocking=True)
        labels = labels.to(self.place.device, non_blocking=True)
        if self.options.compile in GRAPHED:
            torch.compiler.cudagraph_mark_step_begin()
        ranks = self.model if isinstance(self.model, DistributedDataParallel) else None
        with nullcontext() if last or ranks is None else ranks.no_sync():
            with self.precision.autocast():
                logits = self.model(images)
            loss = torch.nn.functional.cross_entropy(
                logits.float(), labels, label_smoothing=self.options.label_smoothing
            )
            loss = loss / parts
            (self.scaler.scale(loss) if self.scaler else loss).backward()
        return loss.detach()

    def update(self) -> None:
        """One optimizer step, and the next step's learning rate."""
        if self.options.clip:
            if self.scaler:
                self.scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.options.clip)
        if self.scaler:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.scheduler.step()


@dataclass
class Loop:
    """One launch. `flops`: per image, forward and backward; `keep_kernels` packs what was compiled."""

    engine: Engine
    run: Run
    evaluation: Evaluation | None
    records: Records
    flops: int
    keep_kernels: Callable[[], None]
    watch: LossWatch
    gpu: Sampler
    first_loss: float | None = None
    last_loss: float | None = None
    _began_at: int = 0
    _window: tuple[float, int] = (0.0, 0)
    _input_then: float = 0.0
    _spoken: bool = field(default=False)

    def go(self) -> None:
        """To the end, or until Drained. TrainingError when the loss isn't finite."""
        self._began_at = self.run.step
        parts = self.run.parts
        losses: list[torch.Tensor] = []
        self.engine.model.train()
        for images, labels in self.run:
            losses.append(self.engine.forward_backward(images, labels, parts, self.run.last_of_step))
            if self.run.last_of_step:
                self.engine.update()
                self._after_step(self.run.step + 1, torch.stack(losses).sum())
                losses.clear()

    def _after_step(self, step: int, loss: torch.Tensor) -> None:
        self.watch.add(step, loss)
        done = step - self._began_at
        if done == 1 or step % self.engine.options.log_every == 0 or step == self.run.total:
            self._record(step, paced=done > 1)
        if done == CACHE_AFTER_STEPS:
            self.keep_kernels()
        if self._evaluation_due(step):
            self._evaluate(step)

    def _record(self, step: int, *, paced: bool) -> None:
        """Collective, at the same steps on all ranks. A launch's first step says nothing of its pace."""
        self.watch.settle()
        place = self.engine.place
        total, count = self.watch.take()
        mean = place.sums(torch.tensor([total, float(count)], dtype=torch.float64, device=place.device))
        self.last_loss = (mean[0] / mean[1]).item()
        self.first_loss = self.last_loss if self.first_loss is None else self.first_loss
        if place.leads:
            values: dict[str, float | None] = {
                "loss": self.last_loss,
                "lr": float(self.engine.scheduler.get_last_lr()[0]),
                "epoch": step * self.run.loader.batch / len(self.run.loader.samples),
            }
            self.records.add(step, values | (self._pace(step) if paced else {}) | self.gpu.read())
        self._open_window(step)

    def _pace(self, step: int) -> dict[str, float | None]:
        """Since the last record."""
        since, first = self._window
        took, steps = time.perf_counter() - since, step - first
        images_per_s = self.run.loader.batch * steps / took
        return {
            "images_per_s": images_per_s,
            "step_s": took / steps,
            "input_share": (self.run.ledger.input_s - self._input_then) / took,
            "mfu": self._mfu(images_per_s),
            "model_tflops_per_gpu": images_per_s * self.flops / self.engine.place.world / 1e12,
        }

    def _open_window(self, step: int) -> None:
        self._window = (time.perf_counter(), step)
        self._input_then = self.run.ledger.input_s

    def _mfu(self, images_per_s: float) -> float | None:
        return utilisation(images_per_s, self.flops, self.engine.place.world, self.engine.options.peak_tflops)

    def _evaluation_due(self, step: int) -> bool:
        every = self.engine.options.evaluate_every * len(self.run.loader.samples) / self.run.loader.batch
        if self.evaluation is None or every == 0:
            return False
        return step == self.run.total or int(step / every) > int((step - 1) / every)

    def _evaluate(self, step: int) -> None:
        if self.evaluation is None:
            return
        with self.run.ledger.counting("aside_s"):
            scores = self.evaluation.run(self.engine.core, self.run.ending)
        if scores and self.engine.place.leads:
            self.records.add(step, _named(scores))
        self._open_window(step)

    def speak(self) -> str:
        """The shift's line, recorded once; and the kernels of late compiles are kept."""
        achieved = self.achieved()
        if not self._spoken and self.engine.place.leads:
            self.records.add_shift(achieved.facts())
            self.records.close()
        self._spoken = True
        self.keep_kernels()
        return achieved.line()

    def achieved(self) -> Achieved:
        """So far."""
        ledger, batch = self.run.ledger, self.run.loader.batch
        paced = max(0, ledger.steps - 1) * batch / ledger.training_s if ledger.training_s else 0.0
        return Achieved(
            step=self.run.step,
            total=self.run.total,
            steps=ledger.steps,
            redone=self.records.redone,
            images=ledger.steps * batch,
            seconds=ledger.total_s,
            training_s=ledger.training_s,
            restart_s=ledger.restart_s,
            first_step_s=ledger.first_step_s,
            input_s=ledger.input_s,
            saving_s=ledger.saving_s,
            agreeing_s=ledger.agreeing_s,
            aside_s=ledger.aside_s,
            images_per_s=paced,
            mfu=self._mfu(paced),
            first_loss=self.first_loss,
            last_loss=self.last_loss,
        )


def _named(scores: Scores) -> dict[str, float | None]:
    return {"evaluation_loss": scores.loss, "top1": scores.top1, "top5": scores.top5}


def records_folder(checkpoints: Path) -> Path:
    return checkpoints / "records"
