"""The job's secrets become variables, and only there."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.launch.edges import JobError
from bootstrap.launch.secrets import read_secrets, to_hide, variable_of, variables_of


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("lab/wandb", "WANDB"),
        ("lab/wandb-api.key", "WANDB_API_KEY"),
        ("HF_TOKEN", "HF_TOKEN"),
        ("lab/2fa", "_2FA"),
        ("lab/wandb/", "WANDB"),
        ("///", "_"),
    ],
)
def test_a_plain_secret_is_named_by_the_last_part(name: str, variable: str) -> None:
    assert variable_of(name) == variable


@given(st.from_regex(r"[A-Za-z0-9/_+=.@-]{1,128}", fullmatch=True))
def test_every_name_that_the_stack_file_takes_gives_a_variable(name: str) -> None:
    assert re.fullmatch(r"[A-Z_][A-Z0-9_]*", variable_of(name))


def test_an_object_gives_a_variable_for_each_key_and_other_json_is_plain() -> None:
    assert variables_of("lab/x", '{"WANDB_API_KEY": "k", "LIMIT": 3}') == {"WANDB_API_KEY": "k", "LIMIT": "3"}
    assert variables_of("lab/x", "[1]") == {"X": "[1]"}
    assert variables_of("lab/x", "1234") == {"X": "1234"}


@given(st.text(max_size=200))
def test_any_value_is_read(value: str) -> None:
    variables = variables_of("lab/x", value)
    assert all(isinstance(each, str) for each in variables.values())


def test_all_problems_are_told_at_once_and_no_value_is() -> None:
    values = {
        "a/path": "sesame-1",
        "b/obj": json.dumps({"NIGHTSHIFT_JOB": "sesame-2", "no good": "sesame-3"}),
        "c/key": "sesame-4",
        "d/key": "sesame-5",
        "e/nul": "sesame\0six",
    }

    def read(name: str) -> str:
        if name == "gone":
            raise LookupError("AccessDeniedException")
        return values[name]

    with pytest.raises(JobError) as caught:
        read_secrets([*values, "gone"], read)
    says = str(caught.value)
    for words in (
        "a/path: the variable PATH",
        "NIGHTSHIFT_JOB is the node's own",
        "'no good'",
        "d/key: another secret gives KEY too",
        "e/nul: NUL holds a NUL",
        "gone: can't be read: AccessDeniedException",
    ):
        assert words in says
    assert "sesame" not in says


@pytest.mark.parametrize("key", ["LD_PRELOAD", "PYTHONPATH", "RANK", "NCCL_DEBUG", "CUDA_VISIBLE_DEVICES"])
def test_what_would_change_the_launch_is_refused(key: str) -> None:
    with pytest.raises(JobError, match=f"the variable {key} is the node's own"):
        read_secrets(["x"], lambda _name: json.dumps({key: "1"}))


def test_aws_and_common_tools_may_get_theirs() -> None:
    found = read_secrets(["x"], lambda _n: json.dumps({"AWS_ACCESS_KEY_ID": "a", "HF_TOKEN": "b"}))
    assert found == {"AWS_ACCESS_KEY_ID": "a", "HF_TOKEN": "b"}


def test_each_line_of_a_key_is_hidden() -> None:
    assert to_hide({"K": "BEGIN\nabcdefgh\n"}) == ["BEGIN\nabcdefgh\n", "BEGIN", "abcdefgh"]
