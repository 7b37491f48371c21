"""Makes the logins of a group, on every boot: what stands already is left as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bootstrap.commands import Ran, run
from bootstrap.people.accounts import Login, LoginError, Machine, commands, numbers, parse
from bootstrap.people.homes import SKELETON, homes_folder, mounted, owner_of, settle
from nightshift.plan.people import UIDS, uid_of

COMMAND_S = 60.0
"""useradd itself waits 15 s for whoever else changes accounts."""
PEOPLE = range(1000, UIDS.stop)
"""Whose files a volume may bring along; below are the system's own."""


@dataclass(frozen=True)
class Ground:
    """One node. `volumes` are the names of those that the group mounts, `accounts` the root whose /etc has
    the accounts, `data` where volumes are mounted."""

    volumes: tuple[str, ...]
    data: Path = Path("/data")
    proc: Path = Path("/proc")
    accounts: Path = Path("/")
    skeleton: Path = SKELETON
    run: Callable[[list[str], float], Ran] = run

    @property
    def homes(self) -> Path:
        """What the homes lie in."""
        return homes_folder(self.volumes, self.data, self.accounts)

    def machine(self) -> Machine:
        """Whom it knows now. Raises OSError."""
        texts = [
            (self.accounts / "etc" / name).read_text(encoding="utf-8", errors="replace")
            for name in ("passwd", "group")
        ]
        return parse(*texts)


@dataclass
class Made:
    """The logins that stand, problems of the others, and what people should know of them."""

    logins: list[Login] = field(default_factory=list)
    problems: list[LoginError] = field(default_factory=list)
    says: list[str] = field(default_factory=list)


def make_logins(names: Sequence[str], ground: Ground) -> Made:
    """A login and a home for each; one that can't be made keeps no other from being made."""
    made, homes = Made(), ground.homes
    if ground.volumes and not mounted(homes, ground.proc):
        remedy = "see why the volume isn't mounted"
        made.problems.append(LoginError(", ".join(names), f"a volume at {homes}", "nothing mounted", remedy))
        return made
    owners: dict[str, int | None] = {}
    for name in sorted(names):
        try:
            owners[name] = owner_of(homes / name)
        except (LoginError, OSError) as error:
            made.problems.append(_problem(name, error))
    try:
        wanted = {name: uid_of(name) for name in owners}
        given = numbers(wanted, owners, ground.machine(), PEOPLE)
    except OSError as error:
        made.problems.append(_problem(", ".join(names), error))
        return made
    for name, uid in given.items():
        _make(Login(name, uid, homes / name), owners[name], ground, made)
    if made.logins and not ground.volumes:
        made.says.append(f"the group mounts no volume: homes in {homes} are gone with the node")
    return made


def _make(login: Login, owner: int | None, ground: Ground, made: Made) -> None:
    try:
        for command in commands(login, ground.machine(), ground.accounts):
            _run(login, command, ground)
        taken = settle(login.home, login.uid, ground.skeleton)
    except (LoginError, OSError) as error:
        made.problems.append(_problem(login.name, error))
        return
    made.logins.append(login)
    if taken:
        made.says.append(
            f"{login.home} was owned by number {owner}: the folder is {login.name}'s now ({login.uid}), what "
            f"lies in it isn't changed; `chown -R {login.name}: {login.home}` as root gives all of it"
        )
    elif login.uid != uid_of(login.name):
        made.says.append(
            f"{login.name} has number {login.uid} here and not {uid_of(login.name)}, since {login.home} is "
            "owned by it"
        )


def _run(login: Login, command: list[str], ground: Ground) -> None:
    ran = ground.run(command, COMMAND_S)
    if ran.code:
        raise LoginError(login.name, f"{command[0]} to make the login", ran.words, "see the image's accounts")


def _problem(name: str, error: Exception) -> LoginError:
    if isinstance(error, LoginError):
        return error
    return LoginError(name, "a login and a home", str(error), "see the disk and its mount")
