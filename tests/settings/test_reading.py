"""A stack from a file and from Pulumi: one verdict, the same words."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nightshift.settings import SettingsError, from_config, read_stack

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
SITE = {"zone": "us-east-1a", "owner": "vision", "image": "ami-0abc0000000000001"}
GROUPS = {"a": {"tier": "small", "shifts": [{"days": ["mon"], "from": "09:00", "to": "18:00"}]}}
RAW = {"aws:region": "us-east-1", "nightshift:site": SITE, "nightshift:groups": GROUPS}


def test_values_may_come_as_json_text_or_parsed() -> None:
    as_text = {key: value if isinstance(value, str) else json.dumps(value) for key, value in RAW.items()}
    assert from_config(RAW, "lab", now=NOW) == from_config(as_text, "lab", now=NOW)


def test_keys_may_come_without_their_namespace() -> None:
    bare = {key.removeprefix("nightshift:"): value for key, value in RAW.items()}
    assert from_config(bare, "lab", now=NOW) == from_config(RAW, "lab", now=NOW)


def test_keys_of_others_are_left_alone() -> None:
    assert from_config({**RAW, "aws:profile": "lab", "other:x": "{"}, "lab", now=NOW).region == "us-east-1"


def test_the_name_of_the_stack_is_the_file_name(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.night-lab.yaml"
    file.write_text(json.dumps({"config": RAW}), encoding="utf-8")
    assert read_stack(file, NOW).name == "night-lab"


@pytest.mark.parametrize("name", ["Lab", "my_lab", "lab-", "a" * 21, ""])
def test_a_stack_name_that_names_cannot_hold_is_refused(name: str) -> None:
    with pytest.raises(SettingsError) as refused:
        from_config(RAW, name, now=NOW)
    assert len(refused.value.problems) == 1
    assert refused.value.problems[0].startswith(f'stack name: given "{name}", expected a name of 1 to 20')


def test_a_file_that_is_not_there_is_a_problem_like_any_other(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="No such file"):
        read_stack(tmp_path / "Pulumi.lab.yaml")


def test_a_pipe_or_a_folder_in_its_place_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "Pulumi.pipe.yaml")
    (tmp_path / "Pulumi.folder.yaml").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(SettingsError, match="given no regular file, expected a stack file"):
            read_stack(tmp_path / f"Pulumi.{name}.yaml")


def test_the_error_reads_as_a_header_and_a_line_per_problem() -> None:
    with pytest.raises(SettingsError) as refused:
        from_config({**RAW, "nightshift:grups": {}, "aws:region": "us-east"}, "lab", now=NOW)
    assert str(refused.value).splitlines() == [
        "stack lab: 2 problems, nothing was changed",
        '  aws:region: given "us-east", expected a region such as us-east-1',
        '  grups: unknown key, did you mean "groups"?',
    ]


def test_an_encrypted_topic_is_refused_and_its_content_is_not_shown() -> None:
    with pytest.raises(SettingsError) as refused:
        from_config({**RAW, "nightshift:site": '{"owner": "hunter2"}'}, "lab", {"nightshift:site"}, NOW)
    assert len(refused.value.problems) == 1
    assert refused.value.problems[0].startswith("site: holds an encrypted value")
    assert "hunter2" not in str(refused.value)


def test_an_encrypted_optional_topic_is_refused_too() -> None:
    with pytest.raises(SettingsError) as refused:
        from_config({**RAW, "nightshift:volumes": "{}"}, "lab", {"nightshift:volumes"}, NOW)
    assert [line.partition(":")[0] for line in refused.value.problems] == ["volumes"]


def test_an_encrypted_value_of_another_namespace_is_fine() -> None:
    assert from_config({**RAW, "other:token": "x"}, "lab", {"other:token"}, NOW).name == "lab"


def test_an_abyss_of_brackets_is_a_problem_and_no_traceback() -> None:
    with pytest.raises(SettingsError) as refused:
        from_config({**RAW, "nightshift:site": "[" * 9000 + "]" * 9000}, "lab", now=NOW)
    assert refused.value.problems[0].startswith('site: given "[[[')


def test_settings_are_frozen() -> None:
    stack = from_config(RAW, "lab", now=NOW)
    with pytest.raises(ValueError, match="frozen"):
        stack.site.owner = "other"  # ty: ignore[invalid-assignment]


def test_text_that_json_cannot_hold_is_refused_in_words() -> None:
    with pytest.raises(SettingsError) as refused:
        from_config({**RAW, "nightshift:site": '{"zone": "\\ud800"}'}, "lab", now=NOW)
    assert any(line.startswith("site.zone: given ") for line in refused.value.problems)
    assert str(refused.value).encode()
