"""Logins as the machine's own files have them, and the commands that make one. Pure.

shadow's groupadd and useradd, which every image has: systemd-sysusers is for system users only, and gives a
number that is taken to nobody else but takes another one in silence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SHELL = "/bin/bash"
COMMENT = "Nightshift login"


class LoginError(Exception):
    """A login can't be made as it is declared."""

    def __init__(self, name: str, expected: str, found: str, remedy: str) -> None:
        super().__init__(f"{name}: expected {expected}, found {found}; {remedy}")
        self.name, self.expected, self.found, self.remedy = name, expected, found, remedy


@dataclass(frozen=True)
class Login:
    """A login as wanted. `uid` is the number of its own group too."""

    name: str
    uid: int
    home: Path


@dataclass(frozen=True)
class Account:
    """A line of passwd(5)."""

    name: str
    uid: int
    gid: int
    home: str


@dataclass(frozen=True)
class Machine:
    """Whom the machine knows: accounts, and groups by name with their numbers."""

    accounts: tuple[Account, ...]
    groups: Mapping[str, int]

    def owner_of(self, number: int) -> str | None:
        """The account or else the group that has this number."""
        for account in self.accounts:
            if account.uid == number:
                return account.name
        return next((name for name, gid in self.groups.items() if gid == number), None)

    def account(self, name: str) -> Account | None:
        """The account of this name."""
        return next((each for each in self.accounts if each.name == name), None)


def parse(passwd: str, group: str) -> Machine:
    """Of the texts of /etc/passwd and /etc/group; what isn't a whole line is left out."""
    accounts = []
    for fields in (line.split(":") for line in passwd.splitlines()):
        if len(fields) == 7 and fields[2].isdecimal() and fields[3].isdecimal():
            accounts.append(Account(fields[0], int(fields[2]), int(fields[3]), fields[5]))
    groups = {}
    for fields in (line.split(":") for line in group.splitlines()):
        if len(fields) == 4 and fields[2].isdecimal():
            groups[fields[0]] = int(fields[2])
    return Machine(tuple(accounts), groups)


def commands(login: Login, machine: Machine, root: Path = Path("/")) -> list[list[str]]:
    """What makes the login; nothing where it stands already. Its password is locked: useradd's own default.

    Raises LoginError where the name or the number is somebody else's.
    """
    account = machine.account(login.name)
    if account is not None:
        _same(login, account)
        return []
    _free(login, machine)
    prefix = [] if root == Path("/") else ["--prefix", str(root)]
    number = str(login.uid)
    made = []
    if login.name not in machine.groups:
        made.append(["groupadd", *prefix, "--gid", number, login.name])
    who = ["--uid", number, "--gid", number, "--comment", COMMENT, "--shell", SHELL]
    made.append(["useradd", *prefix, *who, "--no-create-home", "--home-dir", str(login.home), login.name])
    return made


def _same(login: Login, account: Account) -> None:
    if (account.uid, account.gid, account.home) == (login.uid, login.uid, str(login.home)):
        return
    raise LoginError(
        login.name,
        f"no account of that name, or number {login.uid} and home {login.home}",
        f"number {account.uid}, group {account.gid}, home {account.home}",
        "if the image brings it along, take another name; else end the node, the next one makes it anew",
    )


def _free(login: Login, machine: Machine) -> None:
    gid = machine.groups.get(login.name, login.uid)
    taken = [each.name for each in machine.accounts if each.uid == login.uid]
    taken += [name for name, number in machine.groups.items() if number == login.uid and name != login.name]
    if taken or gid != login.uid:
        found = f"it is that of {taken[0]}" if taken else f"a group {login.name} with number {gid}"
        raise LoginError(
            login.name,
            f"number {login.uid} free on this image",
            found,
            "take another name in users, or image",
        )


def numbers(
    wanted: Mapping[str, int], owners: Mapping[str, int | None], machine: Machine, allowed: range
) -> dict[str, int]:
    """The number of each name: that of who owns its home on the volume, where that can be only theirs.

    `wanted` by name, `owners` of the homes that are there already. Files that came from elsewhere stay
    readable so. It can't be only theirs if it's out of `allowed`, the number of another account, of another
    one's home, or wanted by another name: then the name's own stands.
    """
    found = {}
    for name, own in wanted.items():
        owner = owners.get(name)
        others = [number for other, number in wanted.items() if other != name]
        others += [number for other, number in owners.items() if other != name and number is not None]
        theirs = owner is not None and owner in allowed and owner not in others
        known = machine.owner_of(owner) if owner is not None else None
        found[name] = owner if owner is not None and theirs and known in (None, name) else own
    return found


def listed(logins: Sequence[Login]) -> str:
    """For people."""
    return ", ".join(f"{each.name} (number {each.uid}, home {each.home})" for each in logins)
