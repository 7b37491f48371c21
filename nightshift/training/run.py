"""The few lines that make a script a good citizen of a shift."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import torch

from nightshift.training import job as contract
from nightshift.training.checkpoint import Checkpoints, SaveReport
from nightshift.training.errors import TrainingError
from nightshift.training.given import checkpoint_folder, patience, refuse_other_data, total_steps, unwritable
from nightshift.training.job import Drain, Outcome, Progress
from nightshift.training.journal import Journal
from nightshift.training.ledger import Ledger
from nightshift.training.loader import Loader
from nightshift.training.mirror import Copies
from nightshift.training.pacing import Cost
from nightshift.training.ranks import find_ranks
from nightshift.training.shift import Clock, Notice, agree
from nightshift.training.state import Stateful, TrainingState
from nightshift.training.values import positive, refuse_wrong, whole

LAST_SAVE_AFTER_A_FAILURE_S = 10.0


class Drained(SystemExit):
    """The run ends here for this shift; the next launch goes on from its last step."""


class Run:
    """Iterate over it: it yields this rank's batches from where the run stopped, saves, ends when asked to.

    `model` is wrapped as it trains (DDP included), and `optimizer` is made from it, before this is made.
    Give `epochs` or `steps`. `save_every_s` and `save_every_steps` replace the interval that follows from
    what a save costs. With `micro_batch` in the loader, step the optimizer when `last_of_step` is true.
    `mirror` is a function that copies a committed checkpoint elsewhere, or something with `push` and `pull`.
    `before_save` may raise to keep a bad state out of the checkpoints. `last_words` comes when the last step
    is saved and before the node hears of it.
    """

    def __init__(
        self,
        *,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer | Sequence[torch.optim.Optimizer],
        loader: Loader,
        epochs: float | None = None,
        steps: int | None = None,
        scheduler: Stateful | None = None,
        scaler: Stateful | None = None,
        parts: Mapping[str, Stateful] | None = None,
        folder: Path | str | None = None,
        keep: int = 3,
        save_every_s: float | None = None,
        save_every_steps: int | None = None,
        mirror: Copies | Callable[[Path], object] | None = None,
        about: Mapping[str, object] | None = None,
        before_save: Callable[[], object] | None = None,
        last_words: Callable[[], object] | None = None,
    ) -> None:
        refuse_wrong(
            positive("epochs", epochs),
            whole("steps", steps, optional=True),
            whole("keep", keep),
            positive("save_every_s", save_every_s),
            whole("save_every_steps", save_every_steps, optional=True),
            *unwritable(about),
        )
        self.loader = loader
        self.ledger = Ledger()
        self.total = total_steps(loader, epochs, steps)
        self.step = 0
        self.position = 0
        self.last_of_step = False
        self.parts = loader.share.parts
        self._save_every_steps = save_every_steps
        self._before_save = before_save
        self._last_words = last_words
        self._about = {"run": os.environ.get(contract.RUN), "torch": torch.__version__, **(about or {})}
        optimizers = [optimizer] if isinstance(optimizer, torch.optim.Optimizer) else list(optimizer)
        named = {"scheduler": scheduler, "scaler": scaler, **(parts or {})}
        self.state = TrainingState(model, optimizers, {name: one for name, one in named.items() if one})
        self._job = contract.from_environment()
        root = checkpoint_folder(folder)
        ranks = find_ranks(root)
        self._speaks = ranks.local_lead
        self._journal = Journal(self._events(), speaks=self._speaks)
        self.checkpoints = Checkpoints(root, keep=keep, mirror=mirror, journal=self._journal, ranks=ranks)
        self._saved: tuple[int, str] | None = None
        self._saved_at: float | None = None
        self._told_at = 0.0
        self._resume()
        size = sum(tensor.nbytes for tensor in self.state.capture().tensors.values())
        self._clock = Clock(
            nodes=self.checkpoints.ranks.nodes, size=size, every_s=save_every_s, now=time.monotonic
        )
        self._ask_at = self.step + 1
        self._notice = Notice(self._job)
        self._notice.listen()
        self._hook_failures()

    def __iter__(self) -> Iterator[Any]:
        """The batches of the steps that are left. Raises Drained (an exit) when all ranks agreed to end."""
        source = self.loader.batches(self.position, self.total - self.step)
        began = time.perf_counter()
        for index, batch in enumerate(self.ledger.waiting(source)):
            self.last_of_step = (index + 1) % self.parts == 0
            yield batch
            if self.last_of_step:
                self._clock.step_took(time.perf_counter() - began)
                self.ledger.step_done()
                self._end_step()
                began = time.perf_counter()
        self._finish()

    def ending(self) -> bool:
        """Collective, for long loops besides training: leave them when true; the next step's end saves."""
        drain = self._notice.seen() is not None
        word = agree(self.checkpoints.ranks.control, drain=drain, busy=False, due=False, step_s=0.0)
        if word.drain:
            self._ask_at = 0
        return word.drain

    def note(self, event: str, **facts: object) -> None:
        """One line for people and the node's agent, from the first process of each node."""
        self._journal.note(event, **facts)

    def _end_step(self) -> None:
        self.step += 1
        self.position += self.loader.batch
        self._collect(self.checkpoints.poll())
        self._tell()
        if self._save_every_steps and self.step % self._save_every_steps == 0 and self.step < self.total:
            self._collect(self.checkpoints.finish())
            self._save()
        if self.step >= self._ask_at and self.step < self.total:
            self._ask()

    def _ask(self) -> None:
        shift = self._job.shift()
        with self.ledger.counting("agreeing_s"):
            word = agree(
                self.checkpoints.ranks.control,
                drain=self._notice.seen() is not None,
                busy=self.checkpoints.busy,
                due=self._save_every_steps is None and self._clock.due(shift),
                step_s=self._clock.step_s,
            )
        self._ask_at = self.step + word.ask_in
        if word.drain:
            self._drain(self._notice.seen() or Drain("another rank was asked to end"))
        elif word.save:
            self._collect(self.checkpoints.finish())
            self._save()

    def _save(self) -> None:
        if self._before_save:
            self._before_save()
        self._clock.save_began(self._job.shift())
        self.ledger.saving_s += self.checkpoints.start(
            self.state,
            step=self.step,
            position=self.position,
            extra={"loader": self.loader.identity()},
            about=self._about,
        )

    def _collect(self, report: SaveReport | None) -> None:
        if report is None:
            return
        if report.error:
            self._journal.note("save-failed", step=report.step, reason=report.error, training="goes on")
            return
        self._clock.cost = Cost(report.blocked_s, report.background_s)
        self._saved = (report.step, report.path.name if report.path else "")
        self._saved_at = time.time()
        self._journal.note(
            "saved",
            step=report.step,
            blocked_s=round(report.blocked_s, 4),
            background_s=round(report.background_s, 3),
            next_in_s=round(self._clock.interval(self._job.shift()), 1),
        )

    def _save_last(self, by: float | None) -> bool:
        """Save this very step and wait for it. False when it isn't on the disk in time."""
        with self.ledger.counting("saving_s"):
            self._collect(self.checkpoints.finish(patience(by)))
        if self._saved is None or self._saved[0] != self.step:
            self._save()
            with self.ledger.counting("saving_s"):
                self._collect(self.checkpoints.finish(patience(by)))
        return self._saved is not None and self._saved[0] == self.step

    def _drain(self, asked: Drain) -> None:
        self._journal.note("drain", step=self.step, reason=asked.reason)
        saved = self._save_last(asked.by)
        self._speak()
        self._conclude("drained", asked.reason, saved)
        raise Drained(contract.drained_code())

    def _finish(self) -> None:
        saved = self._save_last(None)
        self._speak()
        self._conclude(
            "finished" if saved else "failed", "all steps done" if saved else "last save failed", saved
        )
        if not saved:
            raise TrainingError(f"step {self.step}: all steps are done, but the last save failed; see above")

    def _speak(self) -> None:
        """What the script still has to say can't cost the run its outcome."""
        if self._last_words:
            try:
                self._last_words()
            except Exception as error:
                self._journal.note("last-words-failed", reason=f"{type(error).__name__}: {error}")

    def _conclude(self, outcome: str, reason: str, saved: bool) -> None:
        self._notice.stop()
        sys.excepthook = self._excepthook
        name = self._saved[1] if self._saved else None
        if self._speaks:
            self._journal.note(outcome, step=self.step, checkpoint=name, reason=reason)
            self._job.conclude(Outcome(outcome, self.step, self.position, name, saved, reason))
        self.checkpoints.close()

    def _resume(self) -> None:
        if self._speaks:
            self._job.forget()
        loaded = self.checkpoints.load(self.state)
        if loaded is None:
            return
        refuse_other_data(loaded.extra.get("loader", {}), self.loader.identity())
        self.step, self.position = loaded.step, loaded.position
        self._saved = (loaded.step, loaded.name)
        self._journal.note("resumed", step=loaded.step, samples=loaded.position, checkpoint=loaded.name)

    def _tell(self) -> None:
        now = time.monotonic()
        if not self._speaks or now - self._told_at < contract.PROGRESS_EVERY_S:
            return
        self._told_at = now
        name = self._saved[1] if self._saved else None
        try:
            self._job.report(Progress(self.step, self.total, self.position, name, self._saved_at))
        except OSError as error:
            self._journal.note("progress-not-written", reason=error.strerror)

    def _events(self) -> Path | None:
        return self._job.folder / "events.jsonl" if self._job.folder else None

    def _hook_failures(self) -> None:
        self._excepthook = sys.excepthook
        sys.excepthook = self._failed

    def _failed(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Last words: the save on its way may still land, then the outcome says what happened."""
        self._collect(self.checkpoints.finish(LAST_SAVE_AFTER_A_FAILURE_S))
        words = str(error).splitlines()[0] if str(error) else ""
        try:
            self._conclude("failed", f"{kind.__name__}: {words}", False)
        except OSError as trouble:
            print(f"nightshift: the outcome could not be written: {trouble}", file=sys.stderr)
        self._excepthook(kind, error, trace)
