"""The boot manifest: what is written is read back whole, and anything else is refused with every reason."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.manifest import (
    VERSION,
    BootIdle,
    BootJob,
    BootManifest,
    BootShift,
    BootVolume,
    ManifestError,
    from_json,
)

MANIFEST = BootManifest(
    site="lab",
    group="vit",
    group_name="nightshift-lab.vit",
    region="us-east-1",
    zone="us-east-1a",
    nodes=2,
    instance_types=("g6.12xlarge", "g5.12xlarge"),
    efa=False,
    runtime="torch-2.6-cu124",
    timezone="Asia/Shanghai",
    shifts=(BootShift(("mon", "wed"), "20:00", "07:00"),),
    volumes=(BootVolume("runs", 200, "xfs", "site", True),),
    boot_s=1_200,
    drain_s=600,
    data_bucket="nightshift-lab-data-00000000",
    log_group="/nightshift/lab",
    idle=BootIdle(30, 2_700, "warn"),
    job=BootJob("https://example.org/vit.git", "3f2c1d0", "train.py", ("lab/wandb",), "release"),
    notebook=True,
    users=("ana", "bo"),
    gpu_hours_monthly=500,
)
BARE = replace(MANIFEST, idle=None, job=None, notebook=False, users=(), gpu_hours_monthly=None, volumes=())


def edited(**changes: object) -> str:
    return json.dumps({**json.loads(MANIFEST.to_json()), **changes})


def problems(text: str) -> tuple[str, ...]:
    with pytest.raises(ManifestError) as caught:
        from_json(text)
    return caught.value.problems


@pytest.mark.parametrize("manifest", [MANIFEST, BARE])
def test_a_manifest_is_read_back_as_it_was_written(manifest: BootManifest) -> None:
    assert from_json(manifest.to_json()) == manifest


names = st.text(max_size=30)
clocks = st.times().map(lambda at: f"{at:%H:%M}")
days = st.lists(st.sampled_from(("mon", "sun")), min_size=1, max_size=3).map(tuple)
shifts = st.builds(BootShift, days, clocks, clocks)
volumes = st.builds(
    BootVolume,
    names,
    st.integers(1),
    st.sampled_from(("xfs", "ext4")),
    st.sampled_from(("site", "node")),
    st.booleans(),
)
jobs = st.builds(
    BootJob,
    names,
    st.none() | names,
    names,
    st.lists(names, max_size=3).map(tuple),
    st.sampled_from(("release", "stay")),
)


@given(
    st.builds(
        replace,
        st.just(MANIFEST),
        group=names,
        nodes=st.integers(1),
        efa=st.booleans(),
        shifts=st.lists(shifts, max_size=3).map(tuple),
        volumes=st.lists(volumes, max_size=3).map(tuple),
        job=st.none() | jobs,
        users=st.lists(names, max_size=3).map(tuple),
        gpu_hours_monthly=st.none() | st.integers(),
    )
)
def test_any_manifest_survives_the_bucket(manifest: BootManifest) -> None:
    assert from_json(manifest.to_json()) == manifest


def test_the_same_manifest_is_the_same_text() -> None:
    assert MANIFEST.to_json() == replace(MANIFEST).to_json()


def test_all_problems_come_at_once_each_with_its_place() -> None:
    volume = {"name": "runs", "size_gib": "200", "filesystem": "ntfs", "per": "site", "blank": 1}
    text = edited(nodes=True, volumes=[volume], zone=None, shifs=[], job={"repo": "/x"})
    assert problems(text) == (
        "shifs: unknown key",
        "zone: given None, expected text",
        "nodes: given True, expected a whole number",
        "volumes[0].size_gib: given '200', expected a whole number",
        "volumes[0].filesystem: given 'ntfs', expected one of xfs, ext4",
        "volumes[0].blank: given 1, expected true or false",
        "job.ref: missing",
        "job.run: missing",
        "job.secrets: missing",
        "job.when_done: missing",
    )


def test_a_value_where_a_list_or_an_object_belongs_is_named() -> None:
    assert problems(edited(users="ana", idle=[])) == (
        "idle: given [], expected an object",
        "users: given 'ana', expected a list",
    )


def test_another_version_is_refused_whatever_else_is_in_it() -> None:
    (problem,) = problems(json.dumps({"version": VERSION + 1, "new": "field"}))
    assert problem.startswith(f"version: given {VERSION + 1}, this agent reads {VERSION}")


def test_values_that_cannot_be_are_refused_before_a_shift_begins() -> None:
    shift = {"days": [], "start": "25:00", "end": "7"}
    text = edited(timezone="../../etc/passwd", nodes=0, drain_s=-9, instance_types=[], shifts=[shift])
    assert problems(text) == (
        "nodes: given 0, expected 1 or more",
        "drain_s: given -9, expected 1 or more",
        "instance_types: given none, expected one or more",
        "timezone: given '../../etc/passwd', expected a zone such as Europe/Berlin",
        "shifts[0].days: given none, expected one or more",
        "shifts[0].start: given '25:00', expected HH:MM",
        "shifts[0].end: given '7', expected HH:MM",
    )
    assert problems(edited(timezone="Mars/Base"))
    assert problems(edited(timezone=""))


@pytest.mark.parametrize("text", ["", "{", "null", "[]", "7", "\x00", "[" * 200_000])
def test_what_is_no_manifest_at_all_is_refused_in_words(text: str) -> None:
    (problem,) = problems(text)
    assert problem.startswith(("not JSON", "version: given None"))


@given(st.text())
def test_no_text_makes_it_crash(text: str) -> None:
    with pytest.raises(ManifestError):
        from_json(text)
