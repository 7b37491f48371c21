"""The trainer's parts, one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nightshift.training import TrainingError
from nightshift.training.trainer import models, work
from nightshift.training.trainer.data import SyntheticImages
from nightshift.training.trainer.evaluation import Evaluation
from nightshift.training.trainer.gpu import Sampler, parsed
from nightshift.training.trainer.memory import GIB, Shortage, advice, is_shortage
from nightshift.training.trainer.place import Place, Precision, choose, entered
from nightshift.training.trainer.schedule import factor
from nightshift.training.trainer.watch import LossWatch

CPU = Place(torch.device("cpu"))


@given(st.integers(1, 10_000), st.integers(0, 12_000))
def test_the_rate_rises_once_and_falls_to_nothing(total: int, warmup: int) -> None:
    at = [
        factor(step, total=total, warmup=warmup) for step in sorted({0, warmup, total // 2, total - 1, total})
    ]
    assert all(0 <= one <= 1 for one in at)
    assert factor(max(0, min(warmup, total) - 1), total=total, warmup=warmup) == 1.0
    if warmup < total:
        assert factor(total, total=total, warmup=warmup) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("wanted", "device", "capability", "found"),
    [
        ("auto", "cuda", (8, 0), "bf16"),
        ("auto", "cuda", (9, 0), "bf16"),
        ("auto", "cuda", (7, 5), "fp16"),
        ("auto", "cpu", None, "fp32"),
        ("fp32", "cuda", (9, 0), "fp32"),
    ],
)
def test_numbers_are_kept_as_the_card_can(wanted: str, device: str, capability: Any, found: str) -> None:
    assert choose(wanted, device, capability) == found


def test_ranks_that_are_no_numbers_are_refused_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("RANK", "abc"), ("WORLD_SIZE", "2"), ("LOCAL_RANK", "-1")):
        monkeypatch.setenv(name, text)
    with pytest.raises(TrainingError) as caught, entered(10.0):
        pass
    assert [problem.split(",")[0] for problem in caught.value.problems] == [
        "RANK: given 'abc'",
        "LOCAL_RANK: given '-1'",
    ]
    monkeypatch.setenv("RANK", "2")
    monkeypatch.setenv("LOCAL_RANK", "0")
    with pytest.raises(TrainingError, match="RANK: given 2, expected less than WORLD_SIZE"), entered(10.0):
        pass


def test_only_fp16_has_a_scaler() -> None:
    assert [bool(Precision(name, "cpu").scaler()) for name in ("fp32", "bf16", "fp16")] == [
        False,
        False,
        True,
    ]


def test_vit_b_16_has_the_published_size_and_work() -> None:
    with torch.device("meta"):
        model = models.build("vit-b16", side=224, classes=1000)
    assert sum(one.numel() for one in model.parameters()) == 86_567_656  # torchvision's table
    # timm lists 17.58 billion multiply-adds forward: two operations each, and backward twice that, but for
    # the pixels, which need no gradient.
    assert work.training_flops("vit-b16", side=224, classes=1000) == pytest.approx(3 * 2 * 17.58e9, rel=0.02)


def test_utilisation_is_of_all_gpus() -> None:
    assert work.utilisation(1000.0, 10**11, 2, 100.0) == pytest.approx(0.5)
    assert work.utilisation(1000.0, 10**11, 2, None) is None


def test_recomputing_changes_memory_and_nothing_else() -> None:
    found = []
    for recompute in (False, True):
        torch.manual_seed(0)
        model = models.build("vit-toy", side=32, classes=10, recompute=recompute)
        torch.nn.init.normal_(model.get_parameter("heads.head.weight"))
        images = torch.arange(2 * 32 * 32 * 3).remainder(255).to(torch.uint8).view(2, 32, 32, 3)
        saved: list[int] = []
        with torch.autograd.graph.saved_tensors_hooks(
            lambda one, into=saved: (into.append(one.nbytes), one)[1], lambda one: one
        ):
            loss = model(images).square().sum()
        loss.backward()
        grads = [one.grad.clone() for one in model.parameters() if one.grad is not None]
        found.append((loss.item(), grads, sum(saved), list(model.state_dict())))
    (plain, plain_grads, plain_bytes, names), (again, again_grads, again_bytes, other_names) = found
    assert plain == again
    assert all(torch.equal(one, other) for one, other in zip(plain_grads, again_grads, strict=True))
    assert again_bytes < 0.5 * plain_bytes
    assert names == other_names


def test_a_model_has_torchvisions_names() -> None:
    from torchvision.models import VisionTransformer

    theirs = VisionTransformer(32, 8, 2, 4, 64, 256, num_classes=10)
    models.build("vit-toy", side=32, classes=10).load_state_dict(theirs.state_dict())


def test_matrices_decay_and_the_rest_does_not() -> None:
    model = models.build("vit-toy", side=32, classes=10)
    groups = torch.optim.AdamW(models.parameter_groups(model, 0.1)).param_groups
    assert [group["weight_decay"] for group in groups] == [0.1, 0.0]
    decayed, kept = ({id(one) for one in group["params"]} for group in groups)
    named = dict(model.named_parameters())
    assert id(named["heads.head.weight"]) in decayed
    assert {
        id(named["class_token"]),
        id(named["encoder.pos_embedding"]),
        id(named["heads.head.bias"]),
    } <= kept
    assert decayed | kept == {id(one) for one in named.values()}


def test_a_side_that_the_patches_do_not_fill_is_refused() -> None:
    assert models.side_fault("vit-b16", 224) is None
    assert "multiple of 16" in (models.side_fault("vit-b16", 225) or "")


def test_a_loss_that_is_none_stops_before_it_is_saved() -> None:
    watch = LossWatch()
    watch.add(1, torch.tensor(1.5))
    watch.add(2, torch.tensor(float("inf")))
    with pytest.raises(TrainingError, match=r"step 2: the loss is inf.*--lr"):
        watch.settle()
    watch.settle()
    assert watch.take() == (1.5, 1)
    assert watch.take() == (0.0, 0)


FULL = Shortage(80 * GIB, 1 * GIB, 70 * GIB, 71 * GIB, 256, False, False)


@pytest.mark.parametrize(
    ("found", "said", "unsaid"),
    [
        (FULL, ["--micro-batch 128", "--recompute"], ["scattered", "another"]),
        (replace(FULL, recompute=True), ["--micro-batch 128"], ["--recompute keeps"]),
        (replace(FULL, micro=1, recompute=True), ["smaller --model"], ["--micro-batch"]),
        (replace(FULL, allocated=40 * GIB), ["expandable_segments:True"], []),
        (replace(FULL, allocated=40 * GIB, expandable=True), [], ["expandable"]),
        (replace(FULL, allocated=30 * GIB, reserved=31 * GIB), ["48.0 GiB are another process's"], []),
    ],
)
def test_out_of_memory_is_answered_with_what_helps(
    found: Shortage, said: list[str], unsaid: list[str]
) -> None:
    text = "\n".join(advice(found))
    assert all(one in text for one in said)
    assert not any(one in text for one in unsaid)


def test_which_errors_are_shortages() -> None:
    def grab() -> object:
        return torch.empty(1 << 60, dtype=torch.uint8)

    with pytest.raises(RuntimeError) as caught:
        grab()
    assert is_shortage(caught.value)
    assert is_shortage(torch.OutOfMemoryError())
    assert not is_shortage(RuntimeError("shape"))


def test_made_up_images_show_their_class_and_are_the_same_again() -> None:
    one, two = (SyntheticImages(50, side=32, classes=10, seed=1) for _ in range(2))
    images = [one[index] for index in range(50)]
    assert all(torch.equal(image, two[index][0]) for index, (image, _) in enumerate(images))
    rows = {label: image.float().mean((1, 2)) for image, label in images}
    assert len(rows) > 5
    assert min((rows[a] - rows[b]).abs().max() for a in rows for b in rows if a != b) > 8


class Fixed(torch.nn.Module):
    """Says the class that the first pixel names, five wrong ones better for odd images."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        first = images[:, 0, 0, 0].long()
        logits = torch.nn.functional.one_hot(first, 10).float()
        return logits - 2 * (images[:, 0, 0, 1:2] % 2).float() * logits


class Rows:
    """Images that carry their label."""

    def __len__(self) -> int:
        return 7

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return torch.tensor([index, index, 0], dtype=torch.uint8).expand(4, 4, 3), index


@pytest.mark.parametrize("batch", [1, 3, 100])
def test_an_evaluation_counts_every_image_once(batch: int) -> None:
    model = Fixed().train()
    scores = Evaluation(Rows(), CPU, Precision("fp32", "cpu"), batch, 0).run(model, lambda: False)
    assert scores is not None
    assert (scores.images, scores.top1, scores.top5) == (7, 4 / 7, 4 / 7)
    assert model.training


@pytest.mark.parametrize("world", [2, 3, 5])
def test_ranks_evaluate_as_many_batches_each(world: int) -> None:
    calls = []
    for rank in range(world):
        part = Evaluation(Rows(), replace(CPU, rank=rank, world=world), Precision("fp32", "cpu"), 2, 0)
        calls.append([batch and batch[1].tolist() for batch in part._batches()])
    assert len({len(one) for one in calls}) == 1
    assert sorted(label for one in calls for batch in one if batch for label in batch) == list(range(7))


def test_an_evaluation_ends_when_the_shift_does() -> None:
    words = iter([False, True])
    assert Evaluation(Rows(), CPU, Precision("fp32", "cpu"), 2, 0).run(Fixed(), lambda: next(words)) is None


@pytest.mark.parametrize(
    ("line", "busy", "full"),
    [
        ("87, 40536, 81559\n", 0.87, 40536 / 81559),
        ("[N/A], 1, 2", None, 0.5),
        ("", None, None),
        ("x", None, None),
    ],
)
def test_nvidia_smis_answer_is_read(line: str, busy: float | None, full: float | None) -> None:
    assert parsed(line) == {"gpu_busy": busy, "gpu_memory_used": full}


def test_without_a_gpu_the_cpu_is_told() -> None:
    sampler = Sampler(torch.device("cpu"))
    _burn(lambda: sum(range(200_000)))
    assert (sampler.read()["cpu_cores_busy"] or 0) > 0


def _burn(act: Callable[[], object]) -> None:
    for _ in range(5):
        act()
