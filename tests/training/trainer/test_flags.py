"""Flags: read by their type, refused all at once."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.training import TrainingError
from nightshift.training.trainer.flags import Options, parse

NAMES = st.sampled_from([f"--{one.name.replace('_', '-')}" for one in fields(Options)])


def test_nothing_given_is_the_defaults() -> None:
    assert parse([]) == Options()
    assert parse([]).training_epochs == 90.0


def test_each_flag_has_its_type() -> None:
    given_ = parse(
        [
            "--steps",
            "12",
            "--lr",
            "3e-4",
            "--folder",
            "/x",
            "--deterministic",
            "--no-tensorboard",
            "--model=vit-s16",
        ]
    )
    assert (given_.steps, given_.lr, given_.folder) == (12, 3e-4, Path("/x"))
    assert (given_.deterministic, given_.tensorboard, given_.model) == (True, False, "vit-s16")
    assert given_.training_epochs is None


def test_all_that_is_wrong_is_said_at_once() -> None:
    wrong = [
        "--modle",
        "x",
        "--batch",
        "nine",
        "--lr",
        "nan",
        "--precision",
        "fp8",
        "--epochs=1",
        "--steps=3",
    ]
    with pytest.raises(TrainingError) as caught:
        parse([*wrong, "--micro-batch", "0"])
    assert caught.value.problems == (
        "--modle: no such flag; did you mean --model?",
        "--batch: given 'nine', expected a whole number",
        "--micro-batch: given '0', expected at least 1",
        "--lr: given 'nan', expected a finite number",
        "--precision: given 'fp8', expected one of auto, fp32, bf16, fp16",
        "--epochs and --steps: give one of them",
    )


def test_a_word_too_many_and_a_flag_without_its_value_are_said() -> None:
    with pytest.raises(TrainingError, match="imagenet: nothing is expected here"):
        parse(["imagenet"])
    with pytest.raises(TrainingError, match="--batch: expected one argument"):
        parse(["--batch"])


@given(st.lists(st.tuples(NAMES, st.text(max_size=8).map(lambda text: text.replace("\0", ""))), max_size=5))
def test_any_words_are_options_or_sentences(words: list[tuple[str, str]]) -> None:
    problems: tuple[str, ...] = ()
    try:
        parse([f"{name}={text}" for name, text in words])
    except TrainingError as error:
        problems = error.problems
    assert all(problem.startswith(("--", "argument --")) for problem in problems)
