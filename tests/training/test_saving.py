"""Saving and loading by one process: everything comes back, failures cost nothing but the save."""

from __future__ import annotations

import os
import pickle
import random
import shutil
from pathlib import Path

import pytest
import torch
from torch.distributed.checkpoint import FileSystemWriter, SavePlan, SavePlanner
from torch.distributed.checkpoint.storage import WriteResult
from torch.futures import Future

from nightshift.training import Checkpoints, SaveReport, TrainingError, TrainingState, rng, writing
from nightshift.training.journal import Journal
from nightshift.training.reader import SafeReader
from nightshift.training.staging import Staging, assign, own_share
from nightshift.training.state import join, split
from nightshift.training.writing import encode


class Parts:
    """A model with a buffer, an optimizer, and one of each kind of part."""

    def __init__(self, seed: int, width: int = 4) -> None:
        torch.manual_seed(seed)
        self.model = torch.nn.Sequential(torch.nn.Linear(3, width), torch.nn.BatchNorm1d(width))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.1)
        self.scheduler = torch.optim.lr_scheduler.MultiStepLR(self.optimizer, [2, 2, 4])
        self.average = torch.optim.swa_utils.AveragedModel(self.model)
        parts = {"scheduler": self.scheduler, "scaler": torch.amp.GradScaler("cpu"), "average": self.average}
        self.state = TrainingState(self.model, [self.optimizer], parts)

    def train(self, steps: int) -> list[float]:
        return [self._step() for _ in range(steps)]

    def _step(self) -> float:
        loss = (self.model(torch.randn(8, 3)) * random.random()).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        self.average.update_parameters(self.model)
        return loss.item()


def save(checkpoints: Checkpoints, state: TrainingState, step: int, **extra: object) -> SaveReport:
    checkpoints.start(state, step=step, position=step * 8, extra=extra)
    report = checkpoints.finish()
    assert report is not None
    return report


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_training_goes_on_after_a_load_as_if_nothing_had_been(tmp_path: Path) -> None:
    first = Parts(1)
    first.train(3)
    checkpoints = Checkpoints(tmp_path)
    assert save(checkpoints, first.state, 3, words=["a"]).error is None
    checkpoints.close()
    expected = first.train(4)

    second = Parts(2)
    random.seed(99)
    again = Checkpoints(tmp_path)
    loaded = again.load(second.state)
    again.close()
    assert loaded is not None
    assert (loaded.step, loaded.position, loaded.extra) == (3, 24, {"words": ["a"]})
    assert second.train(4) == expected
    assert second.scheduler.get_last_lr() == first.scheduler.get_last_lr()
    for name, tensor in first.average.state_dict().items():
        assert torch.equal(second.average.state_dict()[name], tensor)


def test_what_is_saved_is_the_state_of_that_moment(tmp_path: Path) -> None:
    parts = Parts(1)
    parts.train(1)
    weights = parts.model.get_parameter("0.weight").detach().clone()
    checkpoints = Checkpoints(tmp_path)
    checkpoints.start(parts.state, step=1, position=8)
    parts.train(3)
    checkpoints.finish()
    checkpoints.load(parts.state)
    checkpoints.close()
    assert torch.equal(parts.model.get_parameter("0.weight"), weights)


def test_an_empty_folder_has_nothing_to_load(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "new")
    assert checkpoints.load(Parts(1).state) is None
    checkpoints.close()


def test_a_flipped_bit_falls_back_and_its_step_can_be_saved_again(tmp_path: Path) -> None:
    parts = Parts(1)
    checkpoints = Checkpoints(tmp_path)
    for step in (1, 2):
        parts.train(1)
        save(checkpoints, parts.state, step)
    harmed = tmp_path / "step-000002" / "__0_0.distcp"
    content = bytearray(harmed.read_bytes())
    content[len(content) // 2] ^= 1
    harmed.write_bytes(content)
    loaded = checkpoints.load(parts.state)
    assert loaded is not None
    assert loaded.step == 1
    assert save(checkpoints, parts.state, 2).error is None
    loaded = checkpoints.load(parts.state)
    assert loaded is not None
    assert loaded.step == 2
    checkpoints.close()


def test_with_no_whole_one_left_the_run_is_refused_rather_than_begun_anew(tmp_path: Path) -> None:
    parts = Parts(1)
    checkpoints = Checkpoints(tmp_path)
    save(checkpoints, parts.state, 1)
    (tmp_path / "step-000001" / "extra.pt").unlink()
    with pytest.raises(TrainingError, match=r"none of its checkpoints is whole.*\n.*extra.pt: No such file"):
        checkpoints.load(parts.state)
    assert "step-000001" in names(tmp_path)
    checkpoints.close()


def test_another_model_is_named_by_its_tensors_and_nothing_is_set_aside(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    save(checkpoints, Parts(1).state, 1)
    with pytest.raises(TrainingError, match=r"model\.0\.weight: \[4, 3\] in the checkpoint, \[5, 3\] here"):
        checkpoints.load(Parts(1, width=5).state)
    assert names(tmp_path) == [".lock", "latest", "step-000001"]
    checkpoints.close()


class FullAfter(FileSystemWriter):
    """A disk that is full once some tensors are written."""

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        target = Path(self.path) / "__0_0.distcp"
        target.write_bytes(b"half")
        raise OSError(28, "No space left on device", str(target))


@pytest.mark.parametrize("where", ["tensors", "extra", "manifest", "rename", "no room at all"])
def test_a_full_disk_leaves_the_last_checkpoint_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    parts = Parts(1)
    checkpoints = Checkpoints(tmp_path)
    save(checkpoints, parts.state, 1)
    with monkeypatch.context() as patch:
        if where == "tensors":
            patch.setattr(writing, "FileSystemWriter", FullAfter)
        elif where == "no room at all":
            patch.setattr(writing, "_free_bytes", lambda _path: 1000)
        else:
            _refuse(patch, where)
        report = save(checkpoints, parts.state, 2)
    assert report.error is not None
    assert ("free; grow" if where == "no room at all" else "No space left on device") in report.error
    assert names(tmp_path) == [".lock", "latest", "step-000001"]
    assert (tmp_path / "latest").read_text() == "step-000001\n"
    assert save(checkpoints, parts.state, 3).error is None
    checkpoints.close()


def _refuse(patch: pytest.MonkeyPatch, where: str) -> None:
    def full(*_given: object, **_named: object) -> None:
        raise OSError(28, "No space left on device")

    write_synced = writing.write_synced
    name = {"extra": "extra.pt", "manifest": "manifest.json"}.get(where)
    if name is None:
        patch.setattr(Path, "rename", full)
    else:
        patch.setattr(
            writing,
            "write_synced",
            lambda path, data: full() if path.name == name else write_synced(path, data),
        )


@pytest.mark.node
@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_disk_that_really_fills_up_costs_only_the_saves_that_do_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    assert os.system(f"mount -t tmpfs -o size=6m tmpfs {disk}") == 0
    monkeypatch.setattr(writing, "_free_bytes", lambda _path: 1 << 40)
    try:
        model = torch.nn.Linear(500, 500)
        state = TrainingState(model, [torch.optim.AdamW(model.parameters())])
        checkpoints = Checkpoints(disk, keep=1)
        assert save(checkpoints, state, 1).error is None
        (disk / "ballast").write_bytes(bytes(2 << 20))
        report = save(checkpoints, state, 2)
        assert report.error is not None
        assert names(disk) == [".lock", "ballast", "latest", "step-000001"]
        assert checkpoints.folder.find().step == 1
        (disk / "ballast").unlink()
        checkpoints.close()
    finally:
        os.system(f"umount {disk}")


def test_old_ones_go_and_the_mirror_sees_each_whole(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    parts = Parts(1)
    checkpoints = Checkpoints(
        tmp_path / "here", keep=2, mirror=lambda path: shutil.copytree(path, elsewhere / path.name)
    )
    for step in (1, 2, 3):
        save(checkpoints, parts.state, step)
        assert checkpoints._mirror is not None
        assert checkpoints._mirror.close(30)
    checkpoints.close()
    assert [name for name in names(tmp_path / "here") if name.startswith("step")] == [
        "step-000002",
        "step-000003",
    ]
    assert names(elsewhere / "step-000001") == names(tmp_path / "here" / "step-000003")


def test_a_mirror_that_fails_is_noted_and_saving_goes_on(tmp_path: Path) -> None:
    def broken(_path: Path) -> None:
        raise ConnectionError("no route")

    notes = tmp_path / "events.jsonl"
    checkpoints = Checkpoints(tmp_path / "here", mirror=broken, journal=Journal(notes))
    assert save(checkpoints, Parts(1).state, 1).error is None
    checkpoints.close(mirror_patience_s=30)
    assert "ConnectionError: no route" in notes.read_text()


def test_a_state_that_a_safe_load_would_refuse_is_refused_when_it_is_saved(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    report = save(checkpoints, Parts(1).state, 1, bad=Path("x"), worse=object)
    assert report.error is not None
    assert "keep plain values" in report.error
    assert names(tmp_path) == [".lock"]
    checkpoints.close()


def test_an_index_that_would_run_something_is_not_read(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, ("true",)

    (tmp_path / ".metadata").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(pickle.UnpicklingError, match="has no place"):
        SafeReader(tmp_path).read_metadata()


def test_a_rank_that_the_saved_world_did_not_have_draws_its_own_numbers() -> None:
    torch.manual_seed(5)
    states = {0: rng.capture()}
    drawn = []
    for rank in (0, 1, 2, 1):
        rng.restore_rank(states, rank)
        drawn.append((torch.rand(()).item(), random.random()))
    assert len(set(drawn)) == 3
    assert drawn[1] == drawn[3]


def test_numpy_generators_come_back() -> None:
    import numpy

    numpy.random.seed(3)
    numpy.random.standard_normal()
    state = encode({"rng": rng.capture()})
    expected = numpy.random.standard_normal(3).tolist()
    rng.restore(writing.decode(state)["rng"])
    assert numpy.random.standard_normal(3).tolist() == expected


def test_a_tree_comes_back_from_its_tensors_and_its_rest() -> None:
    tree = {"a": [1, (torch.ones(2), "x")], "b": {"c": torch.zeros(1)}, 3: None}
    tensors: dict[str, torch.Tensor] = {}
    rest = split(tree, "t", tensors)
    assert sorted(tensors) == ["t.a.1.0", "t.b.c"]
    assert str(join(rest, tensors)) == str(tree)


def test_equal_tensors_are_shared_out_evenly_and_each_has_one_writer() -> None:
    sizes = {str(number): number for number in range(1, 101)}
    owner = assign(sizes, 4)
    loads = [sum(sizes[name] for name, rank in owner.items() if rank == one) for one in range(4)]
    assert max(loads) - min(loads) <= 5
    tensors = {name: torch.zeros(size) for name, size in sizes.items()}
    shares = [own_share(tensors, frozenset(tensors) - {"7"}, rank, 4) for rank in range(4)]
    assert sorted(name for share in shares for name in share) == sorted(sizes)
    assert "7" in shares[0]


def test_the_copy_keeps_its_memory() -> None:
    staging = Staging()
    first = staging.copy({"a": torch.ones(3)})["a"]
    again = staging.copy({"a": torch.zeros(3)})["a"]
    assert first.data_ptr() == again.data_ptr()
    assert staging.copy({"a": torch.ones(4)})["a"].tolist() == [1.0] * 4
