"""The job's secrets: from names in Secrets Manager to variables of its environment, and to nowhere else.

A plain value becomes one variable, named by the last part of the secret's name: `lab/wandb-key` gives
WANDB_KEY. A JSON object of texts and numbers becomes one variable for each of its keys, as they are written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from bootstrap.launch.edges import JobError, Secrets

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TAKEN = re.compile(
    r"(PATH|HOME|SHELL|USER|LANG|TMPDIR|IFS|BASH_ENV|ENV|RANK|WORLD_SIZE|LOCAL_RANK|LOCAL_WORLD_SIZE|GROUP_RANK"
    r"|MASTER_ADDR|MASTER_PORT|(LD|PYTHON|NIGHTSHIFT|TORCH|TORCHELASTIC|NCCL|GLOO|CUDA|FI|GIT_CONFIG)_?.*)"
)
GIT_TOKEN = "GIT_TOKEN"
GIT_USERNAME = "GIT_USERNAME"
GIT_SSH_KEY = "GIT_SSH_KEY"
FOR_GIT = (GIT_TOKEN, GIT_USERNAME, GIT_SSH_KEY)
"""Variables that fetch the job's code and don't go into its environment."""


def read_secrets(names: Sequence[str], read: Secrets) -> dict[str, str]:
    """All variables. Raises JobError with every problem; no message holds any part of a value."""
    found: dict[str, str] = {}
    problems = []
    for name in names:
        try:
            variables = variables_of(name, read(name))
        except (LookupError, OSError, UnicodeError) as error:
            problems.append(f"{name}: can't be read: {error}")
            continue
        problems += _problems(name, variables, found)
        found.update(variables)
    if problems:
        raise JobError("job.secrets: " + "; ".join(problems))
    return found


def variables_of(name: str, value: str) -> dict[str, str]:
    """What one secret sets."""
    try:
        raw = json.loads(value)
    except (ValueError, RecursionError):
        raw = None
    if isinstance(raw, dict):
        return {str(key): _text(each) for key, each in raw.items()}
    return {variable_of(name): value}


def variable_of(name: str) -> str:
    """`lab/wandb-key` -> WANDB_KEY; a digit in front gets an underscore."""
    last = name.rstrip("/").rpartition("/")[2]
    variable = re.sub(r"[^A-Z0-9]+", "_", last.upper()).strip("_")
    return f"_{variable}" if not variable or variable[0].isdigit() else variable


def to_hide(variables: Mapping[str, str]) -> list[str]:
    """Texts that no log may show: values, and the lines of those that have several."""
    return [part for value in variables.values() for part in (value, *value.splitlines())]


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _problems(name: str, variables: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    problems = []
    for variable, value in variables.items():
        if not _VARIABLE.fullmatch(variable):
            problems.append(f"{name}: its key {variable!r} can't be a variable's name")
        elif _TAKEN.fullmatch(variable):
            problems.append(f"{name}: the variable {variable} is the node's own; name it otherwise")
        elif variable in found:
            problems.append(f"{name}: another secret gives {variable} too")
        elif "\0" in value:
            problems.append(f"{name}: {variable} holds a NUL, which no variable can")
    return problems
