"""The copy of a stack file, the engine's environment and its results: nothing leads to a real account."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from nightshift.emulator.engine import environment, results, stackfile
from nightshift.emulator.engine.errors import WorkspaceError
from nightshift.emulator.engine.toolchain import Toolchain
from nightshift.emulator.engine.workspace import Workspace
from nightshift.settings.document import config_of
from nightshift.settings.yamltext import YamlError, load

TEXT = """\
# ours
secretsprovider: awskms://alias/x
encryptionsalt: v1:abc
config:
  aws:region: us-east-1
  aws:profile: production
  aws:assumeRoles:
    - roleArn: arn:aws:iam::1:role/x
  # a comment that stays
  nightshift:site: {at: 07:00, on: yes}
  aws:endpoints:
    - ec2: http://elsewhere
"""


def _kept(text: str | bytes) -> object:
    return load(stackfile.harmless(text if isinstance(text, bytes) else text.encode()).encode())


def test_only_the_ways_to_a_real_account_are_left_out() -> None:
    assert stackfile.harmless(TEXT.encode()) == (
        'config:\n  "aws:region": "us-east-1"\n  "nightshift:site":\n    "at": "07:00"\n    "on": "yes"\n'
    ).replace("config:", '"config":')


LEADING_OUT = {
    "a second document": "config:\n  aws:profile: production\n  aws:region: us-east-1\n---\nother: 1\n",
    "a broken second document": "config: {aws:profile: p, aws:region: us-east-1}\n---\na: *gone\n",
    "a merge key": (
        'base: &b {aws:endpoints: [{ec2: "http://127.0.0.1:41889"}]}\n'
        "config: {<<: *b, aws:region: us-east-1}\n"
    ),
    "merge keys in a list": "a: &a {aws:token: t}\nb: &b {aws:profile: p}\n"
    "config:\n  <<: [*a, *b]\n  aws:region: us-east-1\n",
    "an aliased config": "base: &b {aws:profile: p, aws:region: us-east-1}\nconfig: *b\n",
    "a key in quotes": 'config: {"aws:\\x70rofile": production, aws:region: us-east-1}\n',
    "a key with a tag": "config: {!!str aws:profile: production, aws:region: us-east-1}\n",
    "the long form of a key": "config: {aws:config:profile: production, aws:region: us-east-1}\n",
    "a setting nobody here knows": "config: {aws:newWayOut: x, aws:region: us-east-1}\n",
    "another provider's": "config: {aws-native:profile: production, aws:region: us-east-1}\n",
    "an encrypted key": "config: {aws:secretKey: {secure: v1:x}, aws:region: us-east-1}\n",
    "a foreign secret": "config: {other:token: {secure: v1:x}, aws:region: us-east-1}\n",
    "an environment": "environment: [production]\nconfig: {aws:region: us-east-1}\n",
    "one line": 'config: {"aws:profile": production, aws:region: us-east-1}\n',
    "a tag nobody knows": "config: {aws:profile: !foo production, aws:region: us-east-1}\n",
}


@pytest.mark.parametrize("text", LEADING_OUT.values(), ids=LEADING_OUT)
def test_however_a_way_out_is_written_it_is_left_out(text: str) -> None:
    assert _kept(text) == {"config": {"aws:region": "us-east-1"}}
    assert _kept(text.replace("\n", "\r\n")) == {"config": {"aws:region": "us-east-1"}}


@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-16"])
def test_the_copy_is_plain_text_whatever_coding_the_file_has(coding: str) -> None:
    text = "config: {aws:profile: p, nightshift:site: {owner: café}}\n"
    assert _kept(text.encode(coding)) == {"config": {"nightshift:site": {"owner": "café"}}}
    assert stackfile.harmless(text.encode(coding)).isascii()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\tconfig: [", "line 1, column 1: a tab"),
        ("- 1\n", "the file must be a mapping"),
        ("config: {a:b: 1, a:b: 2}\n", "stands twice"),
        ("config: {nightshift:site: {owner: {secure: v1:x}}}\n", "nightshift:site: holds an encrypted value"),
        ("config: {aws:region: {secure: v1:x}}\n", "aws:region: holds an encrypted value"),
        ("config: {a:b: *gone}\n", "an alias whose anchor"),
    ],
)
def test_what_cannot_be_read_is_refused_and_never_copied(text: str, says: str) -> None:
    with pytest.raises(WorkspaceError, match=says):
        stackfile.harmless(text.encode())


_SCALARS = st.one_of(
    st.text(), st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False, allow_infinity=False)
)
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(min_size=1), inner), max_leaves=6
)
_NAMES = st.text(st.characters(exclude_characters=":", codec="utf-8"), min_size=1)


@given(st.dictionaries(_NAMES.map("nightshift:{}".format), _VALUES, max_size=4))
def test_what_the_program_reads_arrives_as_it_would_from_the_file(values: dict[str, object]) -> None:
    text = yaml.safe_dump({"config": values}).encode()
    try:
        config, secret = config_of(load(text))
    except YamlError:
        assume(False)
        return
    assume(not secret)
    again, _ = config_of(load(stackfile.harmless(text).encode()))
    assert again == config


@pytest.mark.parametrize("key", ["aws:profile", "aws:config:endpoints", "pulumi:tags"])
def test_a_project_file_that_leads_out_is_refused_by_name(key: str) -> None:
    where = Path("Pulumi.yaml")
    stackfile.refuse_leading_out({"aws:region": "us-east-1", "nightshift:site": {}, "site": {}}, where)
    stackfile.refuse_leading_out(None, where)
    with pytest.raises(WorkspaceError, match="can lead to a real account"):
        stackfile.refuse_leading_out({key: {"value": "x"}}, where)


def _workspace(folder: Path, project: str) -> Workspace:
    toolchain = Toolchain(folder / "pulumi", "3", folder / "host", "bridge", "5.100.0")
    (folder / "config").mkdir()
    (folder / "Pulumi.yaml").write_text(project)
    return Workspace(toolchain, folder / "Pulumi.lab.yaml", folder, "http://127.0.0.1:1", folder)


def test_a_workspace_keeps_its_salt_and_names_the_file_it_refuses(tmp_path: Path) -> None:
    made = _workspace(tmp_path, "name: p\n")
    made.config_file.write_text("encryptionsalt: v1:own\n")
    made.stack_file.write_bytes(TEXT.encode("utf-16"))
    made.write_config()
    written = made.config_file.read_text()
    assert written.endswith("\nencryptionsalt: v1:own\n")
    assert "production" not in written
    made.stack_file.write_text("a: [")
    with pytest.raises(WorkspaceError, match=r"^Pulumi\.lab\.yaml: line 2"):
        made.write_config()
    assert made.config_file.read_text() == written


@pytest.mark.parametrize("project", ["", "- 1", "a: [", "name: p\nconfig: {aws:profile: production}\n"])
def test_a_workspace_takes_no_other_project_file(tmp_path: Path, project: str) -> None:
    made = _workspace(tmp_path, project)
    made.stack_file.write_text(TEXT)
    with pytest.raises(WorkspaceError, match=r"Pulumi\.yaml: "):
        made.write_config()


@pytest.mark.parametrize("name", ["stack.yaml", "Pulumi.yaml", "Pulumi.lab.json"])
def test_a_stack_file_has_the_engines_kind_of_name(name: str) -> None:
    assert stackfile.stack_name(Path("/x/Pulumi.lab.yaml")) == "lab"
    with pytest.raises(WorkspaceError, match=r"Pulumi\.<stack>\.yaml"):
        stackfile.stack_name(Path(name))


def test_the_environment_leads_to_the_emulator_alone(tmp_path: Path) -> None:
    toolchain = Toolchain(tmp_path / "pulumi", "3", tmp_path / "host", "bridge", "5.100.0")
    base = {
        "PATH": "/usr/bin",
        "HOME": "/home/x",
        "AWS_PROFILE": "production",
        "AWS_SESSION_TOKEN": "real",
        "AWS_CA_BUNDLE": "/x.pem",
        "AWS_ENDPOINT_URL_EC2": "http://elsewhere",
        "PULUMI_ACCESS_TOKEN": "real",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    made = environment.engine_environment(
        base, toolchain, tmp_path, Path("/venv/bin/python"), "http://127.0.0.1:1"
    )
    assert {name for name in made if name.startswith("AWS_")} == set(environment.aws_environment("x"))
    assert made["AWS_ENDPOINT_URL"] == "http://127.0.0.1:1"
    assert made["PATH"] == f"{tmp_path}/bin:/venv/bin:{tmp_path}/host:/usr/bin"
    assert made["PULUMI_BACKEND_URL"].startswith("file://")
    assert made["HOME"] == "/home/x"
    assert not {"PULUMI_ACCESS_TOKEN", "PULUMI_DEBUG_PROVIDERS", "PYTHONDONTWRITEBYTECODE"} & made.keys()


@pytest.mark.parametrize("endpoint", ["https://ec2.us-east-1.amazonaws.com", "http://10.0.0.1:5000", "", "x"])
def test_an_endpoint_off_this_machine_is_refused(endpoint: str) -> None:
    assert environment.emulated("http://127.0.0.1:5000") == "http://127.0.0.1:5000"
    assert environment.emulated("http://localhost:5000") == "http://localhost:5000"
    with pytest.raises(WorkspaceError, match="not on this machine"):
        environment.emulated(endpoint)


URN = "urn:pulumi:lab::p::nightshift:infra:Volumes$aws:ebs/volume:Volume::data"


def _log(folder: Path, *events: dict, torn: str = "") -> Path:
    path = folder / "events.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events) + torn)
    return path


def test_a_finished_run_is_told_by_its_summary(tmp_path: Path) -> None:
    step = {"op": "update", "urn": URN, "diffs": ["size"]}
    log = _log(
        tmp_path,
        {"resOutputsEvent": {"metadata": step}},
        {"resOutputsEvent": {"metadata": step}},
        {"diagnosticEvent": {"severity": "debug", "message": "noise"}},
        {"diagnosticEvent": {"severity": "warning", "message": "careful\n", "urn": URN}},
        {"summaryEvent": {"resourceChanges": {"update": 1, "same": 3}}},
    )
    result = results.read_result("up", 0, 1.5, log, "text")
    assert (result.ok, result.changed, dict(result.changes)) == (True, 1, {"update": 1, "same": 3})
    assert result.steps == (results.Step("update", URN, False, ("size",)),)
    assert (result.steps[0].type, result.steps[0].name) == ("aws:ebs/volume:Volume", "data")
    assert result.diagnostics == "data: warning: careful"


def test_a_killed_run_is_told_by_the_steps_it_finished(tmp_path: Path) -> None:
    log = _log(
        tmp_path,
        {"resOutputsEvent": {"metadata": {"op": "create", "urn": URN}}},
        {"resOpFailedEvent": {"metadata": {"op": "create", "urn": URN + "2"}}},
        torn='{"resOutputsEvent": {"meta',
    )
    result = results.read_result("up", -9, 1, log, "last words\n")
    assert (result.ok, dict(result.changes)) == (False, {"create": 1})
    assert [step.failed for step in result.steps] == [False, True]
    assert result.diagnostics == "last words"


def test_a_run_that_wrote_no_log_still_tells_its_output(tmp_path: Path) -> None:
    result = results.read_result("up", 255, 1, tmp_path / "none", "error: no stack\n")
    assert (result.changed, result.diagnostics) == (0, "error: no stack")
