"""The job's code: a folder on a volume as it is, or a clone of a pinned ref, whole or made anew."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bootstrap.launch.edges import JobError
from bootstrap.launch.git import Credentials, Git, GitFailed, Stopped, is_commit, without_credentials
from bootstrap.manifest import BootJob

_WHOLE = ".nightshift-commit"
_PAUSE_S = 5.0


@dataclass(frozen=True)
class Code:
    """Where the job starts. `commit` None: a folder that nobody pinned."""

    folder: Path
    commit: str | None
    says: str


@dataclass(frozen=True)
class Fetching:
    """`folder` holds clones; `limit_s` is for all tries together."""

    folder: Path
    limit_s: float
    say: Callable[[str], None]
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    stopped: Callable[[], bool] = lambda: False


def fetch_code(job: BootJob, secrets: Mapping[str, str], way: Fetching) -> Code:
    """Raises JobError with what to do when it can't be had; Stopped when `way` says so."""
    if job.repo.startswith("/") and job.ref is None:
        return _as_it_is(Path(job.repo))
    if job.ref is None:
        raise JobError(f"job.ref: missing; a Git URL needs a commit or a version tag to pin {job.repo}")
    url, credentials = without_credentials(job.repo, secrets)
    place = way.folder / hashlib.sha256(f"{url} {job.ref}".encode()).hexdigest()[:16]
    until = way.now() + way.limit_s
    pause = _PAUSE_S
    while True:
        try:
            left = until - way.now()
            with Git(way.folder / ".git-scratch", credentials, way.now, left, way.stopped) as git:
                return _at(git, url, job.ref, place, way)
        except GitFailed as error:
            if way.now() + pause > until or not _passing(str(error)):
                raise JobError(_sorry(url, job.ref, str(error), credentials)) from None
            way.say(f"the job's code can't be fetched yet: {error}")
        _rest(way, pause)
        pause = min(60.0, 2 * pause)


def _rest(way: Fetching, seconds: float) -> None:
    until = way.now() + seconds
    while way.now() < until:
        if way.stopped():
            raise Stopped("fetching the code")
        way.sleep(0.2)


def _as_it_is(folder: Path) -> Code:
    if not folder.is_dir():
        raise JobError(f"job.repo: {folder} isn't a folder on this node; volumes are mounted at /data/NAME")
    return Code(folder, None, f"code: {folder} as it is")


def _at(git: Git, url: str, ref: str, place: Path, way: Fetching) -> Code:
    commit = _whole(git, place)
    if commit is None:
        if place.exists():
            way.say("the job's code was cut short or changed: fetched anew")
        commit = _clone(git, url, ref, place)
    return Code(place, commit, f"code: {url} at {ref} ({commit[:12]})")


def _whole(git: Git, place: Path) -> str | None:
    """The commit of a clone that was finished and whose files are as they were committed."""
    try:
        commit = (place / ".git" / _WHOLE).read_text(encoding="ascii").strip()
        clean = not git(place, "status", "--porcelain", "--untracked-files=no").strip()
        same = git(place, "rev-parse", "HEAD").strip() == commit
    except (OSError, ValueError, GitFailed):
        return None
    return commit if clean and same and commit else None


def _clone(git: Git, url: str, ref: str, place: Path) -> str:
    draft = place.with_name(f"{place.name}.part")
    for old in (draft, place):
        shutil.rmtree(old, ignore_errors=True)
    draft.mkdir(parents=True)
    git(draft, "init", "--quiet")
    git(draft, "remote", "add", "origin", url)
    git(draft, "checkout", "--quiet", "--detach", _fetched(git, draft, ref))
    if (draft / ".gitmodules").exists():
        git(draft, "submodule", "update", "--init", "--recursive", "--quiet")
    commit = git(draft, "rev-parse", "HEAD").strip()
    (draft / ".git" / _WHOLE).write_text(f"{commit}\n", encoding="ascii")
    draft.rename(place)
    return commit


def _fetched(git: Git, draft: Path, ref: str) -> str:
    """What to check out. Only the one commit where the server lets it be asked for, else all of it."""
    try:
        git(draft, "fetch", "--quiet", "--depth=1", "origin", ref if is_commit(ref) else f"refs/tags/{ref}")
        return "FETCH_HEAD"
    except GitFailed:
        git(draft, "fetch", "--quiet", "--tags", "origin", "+refs/heads/*:refs/remotes/origin/*")
    if is_commit(ref):
        try:
            return git(draft, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").strip()
        except GitFailed:
            pass
    return git(draft, "rev-parse", "--verify", f"refs/tags/{ref}^{{commit}}").strip()


_FINAL = (
    "authentication failed",
    "could not read username",
    "could not read password",
    "permission denied",
    "host key verification failed",
    "repository not found",
    "does not appear to be a git repository",
    "does not exist",
    "needed a single revision",
    "unknown revision",
    "isn't installed",
    "returned error: 403",
    "returned error: 404",
)


def _passing(says: str) -> bool:
    """Whether trying again could help."""
    return not any(each in says.lower() for each in _FINAL)


def _sorry(url: str, ref: str, says: str, credentials: Credentials) -> str:
    hint = (
        ""
        if credentials.token or credentials.ssh_key
        else "; a private repository needs a secret that gives GIT_TOKEN or GIT_SSH_KEY in job.secrets"
    )
    return f"job.repo: {url} at {ref} can't be fetched: {says}{hint}"
