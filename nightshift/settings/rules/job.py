"""Rules of a group's job: where its code comes from and what torchrun gets to start."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from nightshift.settings.group import Group, Job
from nightshift.settings.problem import Problem, Step, shown
from nightshift.settings.rules.common import repeated
from nightshift.settings.scope import Scope

_MODULE = ("-m", "--module")
_LAUNCHERS = frozenset(
    (
        *(
            "torchrun",
            "accelerate",
            "deepspeed",
            "lightning",
            "mpirun",
            "srun",
            "env",
            "exec",
            "nohup",
            "sudo",
        ),
        *("bash", "sh", "zsh", "dash", "cd", "source", "export", "pip", "uv", "poetry", "conda", "make"),
    )
)
"""Programs and shell words that people write in front of a script; none of them is a Python file."""
_OTHER_START = re.compile(
    r"(?:.*/)?(?:python[0-9.]*|[^/]*\.(?:sh|bash))|[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL
)
"""An interpreter, a shell script, or a variable set as a shell would."""
_EXAMPLE = "train.py --epochs 90"


def findings(path: tuple[Step, ...], group: Group, job: Job, scope: Scope) -> Iterator[Problem]:
    """The job's problems; `path` leads to it."""
    yield from repeated((*path, "secrets"), job.secrets, "the secret")
    if why := run_problem(job.run):
        yield Problem((*path, "run"), why)
    if job.repo.startswith("/"):
        if scope.sound(path[:-1], "volumes"):
            yield from _on_volume((*path, "repo"), job.repo, group.volumes)
        return
    if _has_login(job.repo):
        yield Problem(
            (*path, "repo"),
            "holds a login, which would stand in clear text on every node; write the URL without it "
            "and put a token into Secrets Manager, named in secrets",
        )
    if job.ref is None and scope.sound(path, "repo"):
        yield Problem(
            (*path, "ref"), "missing, a Git URL needs a pinned commit or tag; add it, such as ref: 3f2c1d0"
        )


def run_problem(run: str) -> str | None:
    """Why torchrun could not start `run`, in words; None where nothing speaks against it."""
    try:
        words = shlex.split(run)
    except ValueError:
        return (
            f"given {shown(run)}, which lacks a closing quote; close it, or write \\ in front of a lone one"
        )
    script = words[1:] if words and words[0] in _MODULE else words
    if not script or script[0].startswith("-"):
        return (
            f"given {shown(run)}, but job.run goes to torchrun, whose own options are the node's; write a "
            f"script and its arguments, such as `{_EXAMPLE}`, or `-m package.module`"
        )
    if script is words and _starts_otherwise(words[0]):
        return (
            f"given {shown(run)}, but {shown(words[0])} is no Python file and job.run goes to torchrun; "
            f"write `{_meant(words)}`"
        )
    return None


def _starts_otherwise(word: str) -> bool:
    return word.rpartition("/")[2] in _LAUNCHERS or _OTHER_START.fullmatch(word) is not None


def _meant(words: list[str]) -> str:
    """The words from the script or `-m` on; an example where neither is in sight."""
    begins = (at for at, word in enumerate(words) if word in _MODULE or word.endswith(".py"))
    at = next(begins, len(words))
    meant = shlex.join(words[at:])
    return meant if meant and len(words) - at > (words[at] in _MODULE) and len(meant) <= 200 else _EXAMPLE


def _on_volume(path: tuple[Step, ...], repo: str, volumes: tuple[str, ...]) -> Iterator[Problem]:
    if not any(repo == f"/data/{name}" or repo.startswith(f"/data/{name}/") for name in volumes):
        known = ", ".join(f"/data/{name}" for name in volumes) or "none, the group mounts no volume"
        yield Problem(path, f'given "{repo}", expected a path on a volume of the group: {known}')


def _has_login(url: str) -> bool:
    host = url.partition("://")[2].partition("/")[0]
    return "@" in host
