"""Wrong stack files as people write them, each with every line that it gets back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nightshift.settings import SettingsError, from_config, read_stack, yamltext
from nightshift.settings.document import config_of

WRONG = Path(__file__).with_name("wrong")
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
BASE = {
    "site": "{zone: us-east-1a, owner: vision, image: ami-0abc0000000000001}",
    "volumes": "{runs: {size_gib: 200}}",
    "groups": '{a: {tier: small, volumes: [runs], shifts: [{days: [mon], from: "09:00", to: "18:00"}]}}',
}
"""A sound stack; a case gives the topics that it breaks, or a whole file that begins otherwise."""


def cases(path: Path) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Title, text and expected lines of each case of a file."""
    for block in path.read_text(encoding="utf-8").split("=== ")[1:]:
        title, _, rest = block.partition("\n")
        text, _, says = rest.partition("--- says\n")
        yield title, text, tuple(says.splitlines())


def whole_file(text: str) -> str:
    """The case's topics with the base's for those that it leaves out."""
    given = {line.partition(":")[0] for line in text.splitlines() if line and line[0].isalpha()}
    if not given or not given <= {*BASE, "snapshots"}:
        return text
    rest = "".join(f"{topic}: {value}\n" for topic, value in BASE.items() if topic not in given)
    indented = "".join(f"  {line}\n" for line in (text + rest).splitlines())
    return f"config:\n  aws:region: us-east-1\n{indented}"


ALL = [
    pytest.param(text, says, id=f"{path.stem}: {title}")
    for path in sorted(WRONG.glob("*.txt"))
    for title, text, says in cases(path)
]


@pytest.mark.parametrize(("text", "says"), ALL)
def test_every_problem_is_named_in_one_go(tmp_path: Path, text: str, says: tuple[str, ...]) -> None:
    stack = tmp_path / "Pulumi.lab.yaml"
    stack.write_text(whole_file(text), encoding="utf-8")
    with pytest.raises(SettingsError) as refused:
        read_stack(stack, NOW)
    assert refused.value.problems == says


@pytest.mark.parametrize(("text", "says"), ALL)
def test_up_says_the_same_of_every_file_that_pulumi_can_read(text: str, says: tuple[str, ...]) -> None:
    if says[0].startswith("Pulumi.lab.yaml: "):
        with pytest.raises(yamltext.YamlError):
            config_of(yamltext.load(whole_file(text).encode()))
        return
    config, secret = config_of(yamltext.load(whole_file(text).encode()))
    with pytest.raises(SettingsError) as refused:
        from_config(as_pulumi_gives(config), "lab", secret, NOW)
    assert refused.value.problems == says


def as_pulumi_gives(config: dict[str, object]) -> dict[str, object]:
    """Everything as text, mappings as JSON with sorted keys, nothing as empty text."""
    return {
        key: value if isinstance(value, str) else "" if value is None else json.dumps(value, sort_keys=True)
        for key, value in config.items()
    }


def test_there_are_at_least_sixty_of_them_and_each_expects_something() -> None:
    assert len(ALL) >= 60
    assert all(param.values[1] for param in ALL)


def test_the_base_that_they_break_is_sound(tmp_path: Path) -> None:
    stack = tmp_path / "Pulumi.lab.yaml"
    stack.write_text(whole_file("snapshots: {}\n"), encoding="utf-8")
    assert read_stack(stack, NOW).name == "lab"
