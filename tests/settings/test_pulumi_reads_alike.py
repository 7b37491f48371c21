"""The real Pulumi against `nightshift check`: what a stack file holds, and what is said about a wrong one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nightshift.emulator.engine.toolchain import ensure_toolchain
from nightshift.emulator.engine.workspace import Workspace
from nightshift.settings import SettingsError, read_stack, yamltext
from nightshift.settings.document import config_of

pytestmark = pytest.mark.engine
ROOT = Path(__file__).parents[2]
NOBODY = "http://127.0.0.1:9"
"""An endpoint where nothing listens: a refused stack must not ask AWS anything."""

SCALARS = [
    "07:00",
    "7:00",
    "190:20:30",
    "on",
    "off",
    "yes",
    "no",
    "y",
    "N",
    "true",
    "TRUE",
    "tRUE",
    "~",
    "null",
    "nULL",
    "0777",
    "-0777",
    "0o17",
    "0O17",
    "08",
    "09",
    "0x1F",
    "0xb0",
    "0b11",
    "-0b11",
    "1_000",
    "_1",
    "1_",
    "+1",
    "-0",
    "0x",
    "1e3",
    "1E3",
    "1e6",
    "1e20",
    "1e21",
    "1e400",
    "1.0",
    "1.",
    ".5",
    ".5_0",
    "-.5",
    ".",
    "0.1",
    "1e-7",
    "123456789.0",
    "18446744073709551616",
    "-9223372036854775809",
    "2026-12-24",
    "2026-1-2",
    "2026-02-30",
    "2026-12-24T11:30Z",
    "2026-12-24T11:30:00Z",
    "2026-12-24t1:2:3.50+05:30",
    "2026-12-24T11:30:00+0500",
    "0000-01-01",
    "<<",
    "=",
    "!=",
    "a:b",
    "3f2c1d0",
    "12345e67",
    "1,000",
    "1.2.3",
    "Infinity",
]
TAGGED = (
    "!!str 0777",
    "!!int '7'",
    "!!float 7",
    "!!bool 'true'",
    "!own 7",
    "!!binary aGk=",
    "!!binary /w==",
    "!!null ''",
)
KEYS = ("on", "true", "1", "0x10", "1.5", "2026-12-24", "y")
DOCUMENTS = {
    "merged mappings": "config: {x: &x {a: 1, b: 1}, y: &y {b: 2}, nightshift:site: {c: 3, <<: [*x, *y]}}",
    "an alias": "config: {x: &x [a, b], nightshift:site: {l: *x, m: *x}}",
    "two documents": "config: {nightshift:site: {a: 1}}\n---\nconfig: {nightshift:site: {a: 2}}",
    "nothing": "",
    "only a comment": "# nothing",
    "no config": "encryptionsalt: v1:abc",
    "an empty config": "config:",
    "a byte order mark": "\ufeffconfig: {nightshift:site: {a: 1}}",
    "windows line ends": "config:\r\n  nightshift:site:\r\n    a: on\r\n",
    "keys without a namespace": "config: {site: {a: 1}, nightshift:config:groups: {b: 2}}",
    "numbers at the top": "config: {a: 1, b: true, d: 0777, e: 2026-12-24, f: 1.50}",
    "texts at the top": "config: {c: text, g: '{\"x\": 1}'}",
    "nothing as a value": "config: {nightshift:site: , nightshift:groups: ~}",
    "block texts": "config:\n  site:\n    a: |\n      one\n      two\n    b: >-\n      one\n      two\n",
    "a question mark key": "config:\n  nightshift:site:\n    ? a\n    : 1\n",
    "escapes": "config: {nightshift:site: {a: \"\\x41\\u00e9\\t\", b: 'it''s'}}",
    "a tab inside of a line": "config: {nightshift:site: {a:\t1}}",
}
REFUSED = {
    "a tab as indentation": "config:\n\tnightshift:site: {}",
    "a key twice": "config: {nightshift:site: {a: 1, a: 2}}",
    "two merge keys": "config: {x: &x {a: 1}, y: &y {b: 1}, nightshift:site: {<<: *x, <<: *y}}",
    "an unknown alias": "config: {nightshift:site: *x}",
    "an anchor that holds itself": "config: {nightshift:site: &x {a: *x}}",
    "a merge of text": "config: {nightshift:site: {<<: text}}",
    "a list at the top": "- config",
    "a text at the top": "config",
    "config as a list": "config: [a]",
    "config as a text": "config: a",
    "a key with too many colons": "config: {'a:b:c': 1}",
    "a number as a config key": "config: {1: 2}",
    "a number as a top key": "1: 2\nconfig: {}",
    "a list as a key": "config: {nightshift:site: {[a]: 1}}",
    "an open bracket": "config: {nightshift:site: {a: 1}",
    "infinity": "config: {nightshift:site: {a: .inf}}",
    "a tag that does not fit": "config: {nightshift:site: {a: !!int x}}",
    "a percent sign": "config: {nightshift:site: {a: %x}}",
    "a salt that is a list": "encryptionsalt: [a]\nconfig: {}",
}


@dataclass(frozen=True)
class Pulumi:
    """The real CLI on a project that holds nothing."""

    workspace: Workspace

    def config(self, text: str, folder: Path) -> dict[str, Any] | None:
        """What it reads from a stack file, by full keys as text; None when it refuses the file."""
        file = folder / "Pulumi.lab.yaml"
        file.write_bytes(text.encode())
        command = [
            str(self.workspace.toolchain.pulumi),
            "config",
            "--json",
            "--stack",
            "lab",
            "--non-interactive",
        ]
        done = subprocess.run(
            [*command, "--config-file", str(file)],
            cwd=self.workspace.project,
            env=self.workspace.environment,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            return None
        return {key: entry.get("value", "") for key, entry in json.loads(done.stdout).items()}


@pytest.fixture(scope="module")
def pulumi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pulumi]:
    project = tmp_path_factory.mktemp("project")
    (project / "Pulumi.yaml").write_text("name: nightshift\nruntime: python\n", encoding="utf-8")
    stack = project / "Pulumi.lab.yaml"
    stack.write_text("config: {}\n", encoding="utf-8")
    with Workspace(
        ensure_toolchain(lambda line: print(line, file=sys.stderr)), stack, project, NOBODY
    ) as workspace:
        yield Pulumi(workspace)


def read_here(text: str) -> dict[str, object]:
    """What `check` reads, in the shape of `parsed`."""
    config, _ = config_of(yamltext.load(text.encode()))
    return {key: parsed(value) for key, value in config.items() if value not in (None, "")}


def parsed(value: object) -> object:
    """JSON text as what it says, other text as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def as_read(given: dict[str, Any] | None) -> dict[str, object]:
    """Pulumi's answer in the shape of `read_here`."""
    assert given is not None
    return {key: parsed(value) for key, value in given.items() if value not in ("", "null")}


def test_scalars_keys_and_tags_have_one_meaning(pulumi: Pulumi, tmp_path: Path) -> None:
    values = [*SCALARS, *TAGGED]
    text = "config:\n  nightshift:site:\n" + "".join(f"    v{n}: {value}\n" for n, value in enumerate(values))
    text += "  nightshift:groups:\n" + "".join(f"    {key}: x\n" for key in KEYS)
    there, here = as_read(pulumi.config(text, tmp_path)), read_here(text)
    assert json.dumps(there, sort_keys=True) == json.dumps(here, sort_keys=True)


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS)
def test_documents_have_one_meaning(pulumi: Pulumi, tmp_path: Path, text: str) -> None:
    assert as_read(pulumi.config(text, tmp_path)) == read_here(text)


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_pulumi_refuses_check_refuses(pulumi: Pulumi, tmp_path: Path, text: str) -> None:
    assert pulumi.config(text, tmp_path) is None
    with pytest.raises(yamltext.YamlError):
        config_of(yamltext.load(text.encode()))


WRONG = {
    "times and switches": """config:
  aws:region: us-east-1
  nightshift:site: {zone: us-east-1a, owner: vision, image: 2026-12-24}
  nightshift:groups:
    a: {tier: smal, efa: on, notebook: no, shifts: [{days: [Mon], from: 7:00, to: 0777}]}
""",
    "topics and names": """config:
  aws:region: us-east
  nightshift:grups: {}
  site: {zone: us-west-2a, owner: "?", image: ami-0abc0000000000001, budget: {monthly_usd: 1e9, notify: []}}
  groups:
    1: {tier: small, shifts: []}
""",
    "across fields": """config:
  aws:region: us-east-1
  nightshift:site: {zone: us-east-1a, timezone: Asia/Calcutta, owner: vision, image: ami-0abc0000000000001}
  nightshift:volumes: {runs: {size_gib: 0o20, iops: 20_000, snapshots: nightly}}
  nightshift:groups:
    a: {tier: small, volumes: [runs, runs], shifts: [{days: [mon], from: 20:00, to: 07:00}]}
""",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_up_says_what_check_says_and_changes_nothing(pulumi: Pulumi, tmp_path: Path, text: str) -> None:
    file = tmp_path / "Pulumi.lab.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as refused:
        read_stack(file)
    with Workspace(pulumi.workspace.toolchain, file, ROOT, NOBODY) as workspace:
        result = workspace.up()
        kept = workspace.export()["deployment"].get("resources", [])
    assert [resource["type"] for resource in kept] == ["pulumi:pulumi:Stack"]
    assert result.exit_code != 0
    assert "Traceback" not in result.output
    said = " ".join(result.output.split())
    for problem in refused.value.problems:
        assert " ".join(problem.split()) in said
