"""The artifact: the same bytes from the same sources, all that a node needs, little else."""

from __future__ import annotations

import ast
import importlib.machinery
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import botocore
import pytest

from bootstrap import artifact as module
from bootstrap.artifact import SERVICES, Artifact, MissingPart, build
from bootstrap.launch.command import library_environment

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    return build(cache=tmp_path_factory.mktemp("cache"))


def entries(artifact: Artifact) -> set[str]:
    with zipfile.ZipFile(artifact.path) as bundle:
        return set(bundle.namelist())


def test_two_builds_in_two_places_give_the_same_bytes(built: Artifact, tmp_path: Path) -> None:
    again = build(cache=tmp_path)
    assert again.path != built.path
    assert (again.sha256, again.size) == (built.sha256, built.size)
    assert again.path.read_bytes() == built.path.read_bytes()
    assert built.key == f"bootstrap/{built.sha256}.zip"


def test_what_is_built_once_is_used_again(tmp_path: Path) -> None:
    first = build(cache=tmp_path)
    written = first.path.stat().st_mtime_ns
    assert build(cache=tmp_path).path.stat().st_mtime_ns == written
    assert [path.name for path in tmp_path.iterdir()] == [first.path.name], "nothing half built stays"


def test_a_damaged_copy_is_written_anew(tmp_path: Path) -> None:
    first = build(cache=tmp_path)
    whole = first.path.read_bytes()
    first.path.write_bytes(whole[:-100])
    assert build(cache=tmp_path) == first
    assert first.path.read_bytes() == whole


def test_only_the_newest_copies_stay(tmp_path: Path) -> None:
    for index in range(module.KEPT + 3):
        old = tmp_path / f"{index}.zip"
        old.write_bytes(b"")
        os.utime(old, (index, index))
    newest = build(cache=tmp_path)
    assert newest.path.is_file()
    assert len(list(tmp_path.glob("*.zip"))) == module.KEPT
    assert not (tmp_path / "0.zip").exists()


def test_a_changed_source_is_another_artifact(built: Artifact, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    for folder in (*module.OWN, "nightshift"):
        (checkout / folder).mkdir(parents=True, exist_ok=True)
    for name in module.OWN_FILES:
        (checkout / name).write_text("")
    first = build(checkout, tmp_path / "cache")
    (checkout / "bootstrap" / "new.py").write_text("")
    second = build(checkout, tmp_path / "cache")
    assert len({built.sha256, first.sha256, second.sha256}) == 3


def test_it_holds_the_node_s_rooms_and_no_others(built: Artifact) -> None:
    ours = {name for name in entries(built) if name.startswith(("bootstrap/", "nightshift/", "infra/"))}
    rooms = {"/".join(name.split("/")[:2]) for name in ours if name.startswith("nightshift/")}
    assert rooms == {
        "nightshift/__init__.py",
        "nightshift/catalog",
        "nightshift/plan",
        "nightshift/records",
    }
    assert {"bootstrap/__main__.py", "bootstrap/start/fetch.py"} <= ours
    assert not any(name.startswith("infra/") for name in ours)


def test_a_job_gets_the_training_library_and_nothing_of_the_agent_s(built: Artifact) -> None:
    job = {name.removeprefix("job/") for name in entries(built) if name.startswith("job/")}
    assert {
        "nightshift/__init__.py",
        "nightshift/training/run.py",
        "nightshift/training/trainer/__main__.py",
    } <= job
    assert {name for name in job if not name.startswith("nightshift/training/")} == {"nightshift/__init__.py"}


def test_a_job_s_library_works_from_the_artifact_alone(built: Artifact, tmp_path: Path) -> None:
    with zipfile.ZipFile(built.path) as bundle:
        bundle.extractall(tmp_path)
    told = library_environment(tmp_path)
    assert told == {"PYTHONPATH": str(tmp_path / "job")}
    found = importlib.machinery.PathFinder.find_spec("nightshift", [told["PYTHONPATH"]])
    assert found is not None
    assert found.origin == str(tmp_path / "job" / "nightshift" / "__init__.py")


def test_without_an_artifact_the_job_s_own_python_has_the_library() -> None:
    assert library_environment(Path(__file__).parent) == {}


def test_botocore_s_models_are_the_newest_of_the_services_in_use(built: Artifact) -> None:
    data = Path(botocore.__file__).parent / "data"
    newest = {
        service: max(path.name for path in (data / service).iterdir() if path.is_dir())
        for service in SERVICES
    }
    assert newest == SERVICES
    held = {
        tuple(name.split("/")[2:4])
        for name in entries(built)
        if name.startswith("botocore/data/") and name.count("/") > 2
    }
    assert held == set(SERVICES.items())


def test_it_stays_small_enough_to_fetch_in_a_moment(built: Artifact) -> None:
    assert built.size < 8_000_000
    assert built.size == built.path.stat().st_size


def test_no_compiled_file_or_cache_is_in_it(built: Artifact) -> None:
    assert [name for name in entries(built) if "__pycache__" in name or name.endswith((".pyc", ".so"))] == []


def test_a_missing_library_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "LIBRARIES", ("no_such_library",))
    with pytest.raises(MissingPart, match="needs no_such_library, which isn't installed: run `make setup`"):
        build(cache=tmp_path)


def test_the_node_s_code_is_python_3_10(built: Artifact) -> None:
    with zipfile.ZipFile(built.path) as bundle:
        for name in bundle.namelist():
            if name.startswith(("bootstrap/", "nightshift/")) and name.endswith(".py"):
                ast.parse(bundle.read(name), name, feature_version=(3, 10))


def test_user_data_s_fetcher_is_python_3_8() -> None:
    text = (ROOT / "bootstrap" / "start" / "fetch.py").read_text()
    ast.parse(text, feature_version=(3, 8))


@pytest.mark.node
def test_the_agent_runs_from_the_artifact_alone(built: Artifact, tmp_path: Path) -> None:
    with zipfile.ZipFile(built.path) as bundle:
        bundle.extractall(tmp_path)
    script = (
        "import sys; sys.path = [p for p in sys.path if 'site-packages' not in p]\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "import bootstrap.aws, bootstrap.__main__, bootstrap.start.agent, boto3, nightshift.plan.calendar\n"
        f"session = boto3.session.Session(region_name='us-east-1')\n"
        f"print([session.client(name).meta.service_model.api_version for name in {sorted(SERVICES)!r}])\n"
        "assert all('site-packages' not in (m.__file__ or '') for m in list(sys.modules.values())"
        " if hasattr(m, '__file__'))\n"
    )
    keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_EC2_METADATA_DISABLED": "true"}
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], **keys},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str([SERVICES[name] for name in sorted(SERVICES)])
