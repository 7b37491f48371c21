"""pin: what it compares and what it writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.cli import verb_pin
from nightshift.cli.edit import replace_scalar
from nightshift.cli.errors import CliError
from nightshift.cli.images import KINDS, Image, Published, read_published

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
_PLACE = ("config", "site", "image")
OLD, NEW = "ami-0abc0000000000001", "ami-0def0000000000099"
_NAME = "Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04)"


def _image(ami: str, date: str, **changes: Any) -> Image:
    made = Image(
        ami, f"{_NAME} {date}", "x86_64", "/dev/sda1", 75, f"{date[:4]}-{date[4:6]}-01", None, "available"
    )
    return replace(made, **changes)


def _facts(project: Any, pinned: Image | None, *newest: Image) -> verb_pin.Facts:
    published = [Published(kind, f"/aws/{kind}", image) for kind, image in zip(KINDS, newest, strict=False)]
    return verb_pin.Facts(project.stack, "x86_64", pinned, published)


def test_pin_proposes_the_newest_of_the_pinned_kind_and_ends_with_1(project: Any) -> None:
    facts = _facts(project, _image(OLD, "20261106"), _image(NEW, "20261127"))
    found = verb_pin.answer(facts, verb_pin.propose(facts, None))
    assert found.code == 1
    assert f"  image: {NEW}" in found.lines
    assert found.data["proposed"] == NEW
    assert max(map(len, found.lines)) <= 80


def test_pin_is_content_with_the_newest(project: Any) -> None:
    facts = _facts(project, _image(NEW, "20261127"), _image(NEW, "20261127"))
    found = verb_pin.answer(facts, verb_pin.propose(facts, None))
    assert (found.code, found.lines[-1]) == (0, "the pinned image is the newest of its kind")


def test_pin_says_when_the_pinned_image_is_gone(project: Any) -> None:
    facts = _facts(project, None, _image(NEW, "20261127"))
    found = verb_pin.answer(facts, verb_pin.propose(facts, None))
    assert found.code == 1
    assert "which doesn't exist" in found.lines[0]
    with pytest.raises(CliError, match="isn't published"):
        verb_pin.propose(facts, KINDS[3])


class _Images:
    def __init__(self, *images: Mapping[str, Any], published: str = NEW) -> None:
        self._images, self._published = images, published

    def get_parameters(self, Names: Sequence[str]) -> Any:
        return {
            "Parameters": [{"Name": Names[0], "Value": self._published}],
            "InvalidParameters": list(Names[1:]),
        }

    def describe_images(self, Filters: Any, IncludeDeprecated: bool) -> Any:
        wanted = Filters[0]["Values"]
        return {"Images": [one for one in self._images if one["ImageId"] in wanted]}


def _raw(ami: str, date: str) -> dict[str, Any]:
    return {
        "ImageId": ami,
        "Name": f"{_NAME} {date}",
        "Architecture": "x86_64",
        "RootDeviceName": "/dev/sda1",
        "BlockDeviceMappings": [{"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 75}}],
        "CreationDate": "2026-11-27T10:00:00.000Z",
        "DeprecationTime": "2028-11-27T10:00:00.000Z",
        "State": "available",
    }


class _Aws:
    def __init__(self, client: Any) -> None:
        self._client = client

    def client(self, service: str) -> Any:
        return self._client


def test_only_published_parameters_of_the_allow_list_count() -> None:
    images = _Images(_raw(NEW, "20261127"))
    found = read_published(images, images, "x86_64")
    assert [(one.kind, one.image.id, one.image.root_gib) for one in found] == [(KINDS[0], NEW, 75)]
    assert found[0].image.family == _NAME


def test_pin_write_changes_one_line_and_keeps_the_comment(
    project: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    images = _Images(_raw(OLD, "20261106"), _raw(NEW, "20261127"))
    monkeypatch.setattr("nightshift.cli.context.Context.connect", lambda *_: _Aws(images))
    before = project.file.read_text()
    assert project.say("pin", "--write") == 0
    after = project.file.read_text()
    assert after == before.replace(OLD, NEW)
    assert f"    image: {NEW} # pinned in November" in after
    assert "stacks/Pulumi.lab.yaml:8: image is" in capsys.readouterr().out
    assert project.say("pin") == 0


def test_pin_write_keeps_the_line_ends_of_a_file(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    images = _Images(_raw(OLD, "20261106"), _raw(NEW, "20261127"))
    monkeypatch.setattr("nightshift.cli.context.Context.connect", lambda *_: _Aws(images))
    before = project.file.read_bytes().replace(b"\n", b"\r\n")
    project.file.write_bytes(before)
    assert project.say("pin", "--write") == 0
    assert project.file.read_bytes() == before.replace(OLD.encode(), NEW.encode())


def test_pin_write_says_why_an_image_with_an_anchor_is_left_to_a_person(
    project: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    images = _Images(_raw(OLD, "20261106"), _raw(NEW, "20261127"))
    monkeypatch.setattr("nightshift.cli.context.Context.connect", lambda *_: _Aws(images))
    text = project.file.read_text().replace(OLD, f"&i {OLD}") + "  other:image: *i\n"
    project.file.write_text(text)
    assert project.say("pin", "--write") == 1
    assert "by hand" in capsys.readouterr().err
    assert project.file.read_text() == text


def test_pin_write_keeps_images_of_the_emulated_aws_out_of_the_file(
    project: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made_up = "ami-0abc0000000220401"
    images = _Images(_raw(OLD, "20261106"), _raw(made_up, "20261127"), published=made_up)
    monkeypatch.setattr("nightshift.cli.context.Context.connect", lambda *_: _Aws(images))
    before = project.file.read_text()
    assert project.say("pin", "--write") == 1
    assert project.file.read_text() == before
    assert f"emulated AWS: {made_up} exists in no account" in capsys.readouterr().err


def test_pin_write_refuses_an_image_with_another_root_device(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = _Images(_raw(OLD, "20261106"), {**_raw(NEW, "20261127"), "RootDeviceName": "/dev/xvda"})
    monkeypatch.setattr("nightshift.cli.context.Context.connect", lambda *_: _Aws(images))
    before = project.file.read_text()
    assert project.say("pin", "--write") == 1
    assert project.file.read_text() == before


@pytest.mark.parametrize(
    "line",
    [
        "image: ami-0abc # why",
        "image: &i ami-0abc",
        "image: !!str ami-0abc",
        "image: !!str &i 'ami-0abc'\n---\nother: *gone",
        "image: ami-0abc\n---\nother: document",
        "image: ami-0abc\n    day: 2026-02-30\n    odd: 0x_\n    tagged: !foo 3",
        "image:   'ami-0abc'",
        'image: "ami-0abc"',
        "{zone: us-east-1a, image: ami-0abc, owner: x}",
        "image: ami-0abc\n    # the next line's\n    owner: x",
    ],
)
def test_an_edit_touches_the_scalar_and_nothing_else(line: str) -> None:
    text = (
        f"# top\nconfig:\n  site: {line}\n"
        if line.startswith("{")
        else f"# top\nconfig:\n  site:\n    {line}\n"
    )
    for ends in ("\n", "\r\n"):
        for coding in ("utf-8", "utf-8-sig", "utf-16"):
            before = text.replace("\n", ends)
            changed = replace_scalar(before.encode(coding), _PLACE, "ami-0new")
            assert changed == before.replace("ami-0abc", "ami-0new").encode(coding)


@given(st.text(alphabet="abc0 #:'\"{}[],-&*!|>\n", max_size=40))
def test_an_edit_is_right_or_refused_whatever_stands_around_it(noise: str) -> None:
    import yaml

    text = f"config:\n  site:\n    image: ami-0abc\n    owner: {noise}\n"
    try:
        before = yaml.safe_load(text)
        changed = replace_scalar(text.encode(), _PLACE, "ami-0new").decode()
    except (yaml.YAMLError, CliError):
        return
    before["config"]["site"]["image"] = "ami-0new"
    assert yaml.safe_load(changed) == before


@pytest.mark.parametrize(
    "text",
    [
        "config: 5\n",
        "config: {site: {image: [a]}}\n",
        "",
        "config: {site: {}}\n",
        "config: {site: {image: &i ami-0abc, owner: *i}}\n",
        "base: &i ami-0abc\nconfig: {site: {image: *i}}\n",
        "base: &b {image: ami-0abc}\nconfig: {site: *b}\n",
        "base: &b {image: ami-0abc}\nconfig: {site: {<<: *b}}\n",
        "config: {site: {image: ami-0abc}\n",
    ],
)
def test_an_edit_without_a_scalar_is_refused(text: str) -> None:
    with pytest.raises(CliError, match="by hand"):
        replace_scalar(text.encode(), _PLACE, "ami-0new")


def test_a_file_in_a_coding_that_yaml_does_not_allow_is_refused() -> None:
    with pytest.raises(CliError, match="save it as UTF-8"):
        replace_scalar("config: {site: {image: ami-0abc, owner: é}}".encode("latin-1"), _PLACE, "ami-0new")
