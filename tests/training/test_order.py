"""Which samples come when, and whose they are."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nightshift.training import ImageFolder, Loader, Synthetic, TrainingError
from nightshift.training.loader import Share, divide
from nightshift.training.order import Order, permutation


@given(st.integers(1, 300), st.integers(0, 2**62))
def test_a_shuffle_has_every_sample_once(length: int, seed: int) -> None:
    assert sorted(permutation(length, seed).tolist()) == list(range(length))


def test_the_shuffle_is_this_one_for_ever() -> None:
    """A checkpoint outlives the torch that wrote it: another order would repeat and skip samples."""
    assert permutation(8, 1).tolist() == [1, 4, 7, 0, 5, 2, 3, 6]
    assert permutation(8, 2).tolist() == [2, 7, 4, 0, 1, 5, 6, 3]


def test_places_in_the_shuffle_are_taken_evenly() -> None:
    firsts = torch.stack([permutation(10, seed)[0] for seed in range(2000)])
    counts = torch.bincount(firsts, minlength=10)
    assert counts.min() > 140
    assert counts.max() < 260


@given(st.integers(1, 40), st.integers(0, 200), st.lists(st.integers(1, 50), max_size=6), st.booleans())
def test_pieces_of_the_row_are_the_row(length: int, start: int, cuts: list[int], shuffle: bool) -> None:
    stop = start + sum(cuts)
    pieces, at = [], start
    for cut in cuts:
        pieces += Order(length, 3, shuffle).between(at, at + cut)
        at += cut
    assert pieces == Order(length, 3, shuffle).between(start, stop)


@given(st.integers(1, 60), st.integers(1, 5))
def test_each_epoch_has_each_sample_once(length: int, epochs: int) -> None:
    row = Order(length, 5, True).between(0, epochs * length)
    assert sorted(row) == [(epoch, index) for epoch in range(epochs) for index in range(length)]


@given(st.integers(1, 64), st.integers(1, 64), st.one_of(st.none(), st.integers(1, 64)))
def test_a_batch_is_divided_wholly_or_refused(batch: int, world: int, micro: int | None) -> None:
    if batch % world:
        with pytest.raises(TrainingError, match="fits 1"):
            divide(batch, world, micro)
        return
    share = divide(batch, world, micro)
    assert share.world * share.parts * share.micro == batch
    assert share.micro <= (micro or batch)


def test_the_largest_micro_batch_that_fits_is_taken() -> None:
    assert divide(64, 2, 12) == Share(2, 4, 8)


def test_all_wrong_numbers_of_a_loader_are_said_at_once() -> None:
    wrong: Any = {"batch": 8.0, "micro_batch": float("nan"), "seed": 2**64, "workers": -1, "prefetch": 0}
    with pytest.raises(TrainingError) as caught:
        Loader(Synthetic(8, side=4), **wrong)
    assert caught.value.problems == (
        "batch: given 8.0, expected a whole number, at least 1",
        "micro_batch: given nan, expected a whole number, at least 1",
        f"seed: given {2**64}, expected a whole number, from {-(2**63)} to {2**64 - 1}",
        "workers: given -1, expected a whole number, at least 0",
        "prefetch: given 0, expected a whole number, at least 1",
    )
    with pytest.raises(TrainingError, match="batch: given 0"):
        Loader(Synthetic(8, side=4), batch=0)


class Drawing:
    """Samples that draw random numbers in two ways, as augmentations do."""

    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> tuple[int, float, float]:
        return index, random.random(), torch.rand(()).item()


def drawn(workers: int, position: int = 0, micro_batch: int | None = None) -> list[tuple[float, ...]]:
    loader = Loader(Drawing(), batch=4, workers=workers, micro_batch=micro_batch)
    batches = loader.batches(position, 5 - position // 4)
    return [tuple(float(part[row]) for part in batch) for batch in batches for row in range(len(batch[0]))]


def test_what_a_sample_draws_depends_on_nothing_but_its_place() -> None:
    whole = drawn(0)
    assert drawn(0, position=8) == whole[8:]
    assert drawn(0, micro_batch=1) == whole
    assert len({row[1] for row in whole}) == len(whole)


@pytest.mark.node
def test_worker_processes_draw_the_same() -> None:
    assert drawn(2) == drawn(0)


def test_sampling_leaves_the_random_generators_of_the_script_alone() -> None:
    torch.manual_seed(1)
    random.seed(1)
    plain = (torch.rand(()).item(), random.random())
    torch.manual_seed(1)
    random.seed(1)
    drawn(0)
    assert (torch.rand(()).item(), random.random()) == plain


def test_synthetic_images_are_the_same_again() -> None:
    first, again = Synthetic(5, side=4)[3], Synthetic(5, side=4)[3]
    assert torch.equal(first[0], again[0])
    assert first[1] == again[1]


def imagenet(root: Path) -> Path:
    for name in ("b/2.JPEG", "b/1.jpg", "a/x/3.png", "a/0.jpg", "a/notes.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


def test_images_of_a_folder_come_in_order_with_their_class(tmp_path: Path) -> None:
    data = ImageFolder(imagenet(tmp_path), Path.read_text)
    assert [data[index] for index in range(len(data))] == [
        ("a/0.jpg", 0),
        ("a/x/3.png", 0),
        ("b/1.jpg", 1),
        ("b/2.JPEG", 1),
    ]
    before = data.fingerprint()
    (tmp_path / "b/3.jpg").touch()
    assert ImageFolder(tmp_path, Path.read_text).fingerprint() != before


def test_a_folder_without_images_is_refused_by_name(tmp_path: Path) -> None:
    (imagenet(tmp_path) / "empty").mkdir()
    with pytest.raises(TrainingError, match="in empty"):
        ImageFolder(tmp_path, Path.read_text)
    with pytest.raises(TrainingError, match="No such file"):
        ImageFolder(tmp_path / "nowhere", Path.read_text)


def test_links_that_lead_nowhere_are_refused_by_name(tmp_path: Path) -> None:
    (imagenet(tmp_path) / "a" / "round").symlink_to(tmp_path / "a")
    with pytest.raises(TrainingError, match=r"a/round/.*Too many levels of symbolic links"):
        ImageFolder(tmp_path, Path.read_text)
    (tmp_path / "a" / "round").unlink()
    (tmp_path / "a" / "own.jpg").symlink_to("own.jpg")
    with pytest.raises(TrainingError, match=f"{tmp_path}/a/own.jpg: Too many levels"):
        ImageFolder(tmp_path, Path.read_text)
