"""The job's code, by git's own command."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from bootstrap.launch.code import Fetching, fetch_code
from bootstrap.launch.edges import JobError
from bootstrap.launch.git import Credentials, Git, GitFailed, Stopped, without_credentials
from bootstrap.manifest import BootJob

ENVIRONMENT = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *words], check=True, capture_output=True, text=True, env=ENVIRONMENT
    ).stdout.strip()


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """Two commits, the first of them tagged v1."""
    folder = tmp_path / "origin"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for text, tag in (("one", "v1"), ("two", "")):
        (folder / "train.py").write_text(text)
        git(folder, "add", "train.py")
        git(folder, "commit", "-q", "-m", text)
        if tag:
            git(folder, "tag", "-a", tag, "-m", tag)
    return folder


def job(repo: Path | str, ref: str | None) -> BootJob:
    return BootJob(str(repo), ref, "train.py", (), "stay")


def way(tmp_path: Path, said: list[str], limit_s: float = 30.0) -> Fetching:
    return Fetching(tmp_path / "code", limit_s, said.append)


def test_a_folder_without_a_ref_is_taken_as_it_is(tmp_path: Path) -> None:
    found = fetch_code(job(tmp_path, None), {}, way(tmp_path, []))
    assert (found.folder, found.commit) == (tmp_path, None)
    with pytest.raises(JobError, match="isn't a folder on this node"):
        fetch_code(job(tmp_path / "gone", None), {}, way(tmp_path, []))


def test_a_url_without_a_ref_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JobError, match=r"job\.ref: missing"):
        fetch_code(job("https://example.org/x.git", None), {}, way(tmp_path, []))


@pytest.mark.node
def test_a_tag_a_commit_and_the_start_of_one_are_the_same_code(origin: Path, tmp_path: Path) -> None:
    first = git(origin, "rev-parse", "v1^{commit}")
    for ref in ("v1", first, first[:9]):
        found = fetch_code(job(origin, ref), {}, way(tmp_path, []))
        assert (found.commit, (found.folder / "train.py").read_text()) == (first, "one")


@pytest.mark.node
def test_a_whole_clone_is_used_again_and_a_changed_or_half_one_made_anew(
    origin: Path, tmp_path: Path
) -> None:
    said: list[str] = []
    found = fetch_code(job(origin, "v1"), {}, way(tmp_path, said))
    (found.folder / "made-by-the-job.txt").write_text("stays")
    fetch_code(job(origin, "v1"), {}, way(tmp_path, said))
    assert (found.folder / "made-by-the-job.txt").exists()
    assert said == []
    (found.folder / "train.py").write_text("edited on the node")
    again = fetch_code(job(origin, "v1"), {}, way(tmp_path, said))
    assert (again.folder / "train.py").read_text() == "one"
    (again.folder / ".git" / ".nightshift-commit").unlink()
    once_more = fetch_code(job(origin, "v1"), {}, way(tmp_path, said))
    assert not (once_more.folder / "made-by-the-job.txt").exists()
    assert len(said) == 2


@pytest.mark.node
def test_a_ref_that_isnt_there_is_said_at_once(origin: Path, tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(JobError, match="abcdef1 can't be fetched"):
        fetch_code(job(origin, "abcdef1"), {}, way(tmp_path, [], limit_s=300.0))
    assert time.monotonic() - began < 30


@pytest.mark.node
def test_a_server_that_isnt_there_is_tried_until_the_limit_and_stops_when_told(tmp_path: Path) -> None:
    said: list[str] = []
    url = "https://user:sesame-word@127.0.0.1:9/lab/vit.git"
    stopped = Fetching(tmp_path / "code", 60.0, said.append, stopped=lambda: len(said) > 0)
    with pytest.raises(Stopped):
        fetch_code(job(url, "v1"), {}, stopped)
    with pytest.raises(
        JobError, match=r"https://127\.0\.0\.1:9/lab/vit\.git at v1 can't be fetched"
    ) as caught:
        fetch_code(job(url, "v1"), {}, way(tmp_path, said, limit_s=1.0))
    assert "sesame" not in str(caught.value) + "".join(said)
    assert "GIT_TOKEN" not in str(caught.value)


@pytest.mark.node
def test_credentials_are_in_no_argument_and_no_file_that_stays(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    spy = tmp_path / "bin" / "git"
    spy.write_text('#!/bin/sh\necho "$@" > "$HOME/../argv"\n"$GIT_ASKPASS" Password: >&2; exit 1\n')
    spy.chmod(0o755)
    credentials = Credentials("me", "sesame-token", "sesame-key")
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{tmp_path / 'bin'}:{before}"
    try:
        with Git(tmp_path / "scratch", credentials, time.monotonic, 10.0) as run:
            assert (tmp_path / "scratch" / "key").stat().st_mode & 0o077 == 0
            with pytest.raises(GitFailed, match=r"\*{8}") as caught:
                run(tmp_path, "fetch", "origin")
    finally:
        os.environ["PATH"] = before
    assert "sesame" not in str(caught.value)
    assert (tmp_path / "argv").read_text() == f"-C {tmp_path} fetch origin\n"
    left = [path.read_text() for path in (tmp_path / "scratch").iterdir()]
    assert not any("sesame" in text for text in left)


def test_credentials_come_from_the_url_or_from_secrets() -> None:
    url, found = without_credentials("https://u:p%40x@example.org/lab/vit.git", {})
    assert (url, found.username, found.token) == ("https://example.org/lab/vit.git", "u", "p@x")
    _, found = without_credentials("https://example.org/x.git", {"GIT_TOKEN": "t"})
    assert (found.username, found.token) == ("x-access-token", "t")
    url, found = without_credentials("git@example.org:lab/vit.git", {"GIT_SSH_KEY": "k"})
    assert (url, found.ssh_key) == ("git@example.org:lab/vit.git", "k")
    assert "sesame" not in repr(Credentials("sesame", "sesame", "sesame"))
