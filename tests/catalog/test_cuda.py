"""Drivers are compared part by part, and code runs where torch's own rule says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.catalog.cuda import CUDA, at_least, code_for, parts
from nightshift.catalog.gpus import GPUS, named
from nightshift.catalog.instance_types import instance_types
from nightshift.catalog.runtimes import RUNTIMES
from nightshift.catalog.xids import XIDS

BLACKWELL = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120", "compute_120")


def test_the_same_major_with_a_smaller_last_part_is_below_the_floor() -> None:
    assert not at_least("525.60.11", "525.60.13")
    assert at_least("525.60.13", "525.60.13")
    assert at_least("525.105.17", "525.60.13")
    assert not at_least("580.65", "580.65.06")


@given(st.lists(st.integers(0, 9999), min_size=2, max_size=4), st.lists(st.integers(0, 9999), min_size=2))
def test_versions_order_as_their_numbers_do(left: list[int], right: list[int]) -> None:
    text = [".".join(map(str, numbers)) for numbers in (left, right)]
    assert at_least(*text) == (tuple(left) >= tuple(right))


@given(st.text(max_size=20))
def test_what_is_not_a_version_is_refused(text: str) -> None:
    try:
        numbers = parts(text)
    except ValueError:
        return
    assert len(numbers) >= 2


@pytest.mark.parametrize(
    ("archs", "capability", "code"),
    [
        (BLACKWELL, (8, 9), "cubin"),
        (BLACKWELL, (10, 3), "cubin"),
        (BLACKWELL, (12, 1), "cubin"),
        (BLACKWELL, (13, 0), "ptx"),
        (BLACKWELL, (7, 0), None),
        (("sm_80",), (9, 0), None),
        (("sm_86",), (8, 0), None),
        (("sm_90a",), (9, 0), "cubin"),
        (("sm_100a",), (10, 3), None),
        (("sm_103f",), (10, 3), "cubin"),
        (("sm_103f",), (10, 0), None),
        (("compute_75",), (9, 0), "ptx"),
        (("compute_100f",), (12, 0), None),
        ((), (8, 0), None),
        (("sm_", "gfx90a", "90"), (9, 0), None),
    ],
)
def test_compiled_code_stays_within_its_major_and_ptx_reaches_newer_cards(
    archs: tuple[str, ...], capability: tuple[int, int], code: str | None
) -> None:
    assert code_for(archs, capability) == code


def test_a_preset_and_the_rule_agree_on_every_card() -> None:
    for runtime in RUNTIMES.values():
        archs = [f"sm_{arch}" for arch in runtime.archs]
        for gpu in GPUS.values():
            if runtime.cuda:
                assert (code_for(archs, gpu.capability) == "cubin") == runtime.runs_on(gpu.capability)


def test_the_floors_of_presets_are_those_of_their_cuda() -> None:
    for runtime in RUNTIMES.values():
        if runtime.cuda:
            assert runtime.min_driver == CUDA[runtime.cuda].floor
            assert at_least(runtime.toolkit_driver, CUDA[runtime.cuda].toolkit)


def test_gpus_have_the_capability_of_their_types() -> None:
    for kind in instance_types().values():
        if kind.gpu_model in GPUS:
            assert GPUS[kind.gpu_model].capability == kind.compute_capability


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("Tesla T4", "T4"),
        ("NVIDIA T4G", "T4G"),
        ("NVIDIA L4", "L4"),
        ("NVIDIA L40S", "L40S"),
        ("NVIDIA A100-SXM4-40GB", "A100"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000 Blackwell Server Edition"),
    ],
)
def test_a_card_is_known_by_a_word_of_its_name(text: str, model: str) -> None:
    found = named(text)
    assert found is not None
    assert found.model == model


def test_a_card_with_a_longer_name_is_another_card() -> None:
    assert named("NVIDIA RTX A6000") is None
    assert named("NVIDIA A100X") is None


def test_the_errors_that_the_facts_name_as_fatal_are_fatal() -> None:
    assert {XIDS[code] for code in (48, 64, 74, 95, 119, 120, 140)} == {"reset"}
    assert XIDS[79] == "reboot"
