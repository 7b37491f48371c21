"""job.run: what the stack file takes a node can give to torchrun; launchers in front are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.launch.command import script_of
from bootstrap.launch.edges import JobError
from nightshift.settings.rules.job import run_problem


def node_takes(run: str) -> bool:
    try:
        script_of(run)
    except JobError:
        return False
    return True


WORDS = st.sampled_from(
    ["-m", "--module", "--standalone", "train.py", "lab.train", "'", '"', "\\", "#", " ", "\n"]
)


@given(st.one_of(st.text(min_size=1, max_size=40), st.lists(WORDS, min_size=1).map(" ".join)))
def test_what_a_node_refuses_the_stack_file_refuses(run: str) -> None:
    assert node_takes(run) or run_problem(run)


@given(st.lists(st.text(max_size=12), max_size=4).map(lambda words: " ".join(map(repr, words))))
def test_arguments_are_the_scripts_own(arguments: str) -> None:
    run = f"train.py {arguments}"
    assert node_takes(run) == (run_problem(run) is None)


@pytest.mark.parametrize(
    "run",
    ["train.py", "./train.py --epochs 90", "-m lab.train", "--module sh", "src/python/train.py", "train a=1"],
)
def test_scripts_and_modules_pass(run: str) -> None:
    assert run_problem(run) is None


@pytest.mark.parametrize(
    ("run", "meant"),
    [
        ("python train.py", "train.py"),
        ("python3 -u ./train.py --lr 1", "./train.py --lr 1"),
        ("/usr/bin/python3.12 -m lab.train", "-m lab.train"),
        ("torchrun --standalone train.py", "train.py"),
        ("sh run.sh", "train.py --epochs 90"),
        ("./run.sh", "train.py --epochs 90"),
        ("WANDB_MODE=offline train.py", "train.py"),
        ("cd vit && python train.py", "train.py"),
        ("python -m", "train.py --epochs 90"),
    ],
)
def test_what_stands_in_front_is_refused_with_the_command_that_was_meant(run: str, meant: str) -> None:
    why = run_problem(run)
    assert why is not None
    assert why.endswith(f"job.run goes to torchrun; write `{meant}`")
    assert run_problem(meant) is None
