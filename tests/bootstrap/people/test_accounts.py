"""Logins from the machine's own files: what is made, what stands, what is somebody else's."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap.people.accounts import Account, Login, LoginError, Machine, commands, numbers, parse
from nightshift.plan import names
from nightshift.plan.people import UIDS, uid_of

PASSWD = """root:x:0:0:root:/root:/bin/bash
ubuntu:x:1000:1000:Ubuntu:/home/ubuntu:/bin/bash
+nis::::::
broken line
"""
GROUP = "root:x:0:\ndocker:x:999:ubuntu\nubuntu:x:1000:\n"
MACHINE = parse(PASSWD, GROUP)
ADA = Login("ada", uid_of("ada"), Path("/data/home/ada"))
NUMBER = str(ADA.uid)
PEOPLE = range(1000, 60_000)
NAME = st.from_regex(names.NAME_PATTERN, fullmatch=True)


def knows(machine: Machine, *accounts: Account, **groups: int) -> Machine:
    return Machine((*machine.accounts, *accounts), {**machine.groups, **groups})


def made(login: Login) -> Account:
    return Account(login.name, login.uid, login.uid, str(login.home))


def test_accounts_and_groups_are_read_and_odd_lines_left_out() -> None:
    assert [each.name for each in MACHINE.accounts] == ["root", "ubuntu"]
    assert MACHINE.groups == {"root": 0, "docker": 999, "ubuntu": 1000}
    assert (MACHINE.owner_of(1000), MACHINE.owner_of(999), MACHINE.owner_of(5)) == ("ubuntu", "docker", None)


def test_a_login_has_its_number_its_own_group_its_home_and_no_password() -> None:
    assert commands(ADA, MACHINE) == [
        ["groupadd", "--gid", NUMBER, "ada"],
        [
            *("useradd", "--uid", NUMBER, "--gid", NUMBER, "--comment", "Nightshift login"),
            *("--shell", "/bin/bash", "--no-create-home", "--home-dir", "/data/home/ada", "ada"),
        ],
    ]


def test_another_root_is_named_to_both_commands() -> None:
    for command in commands(ADA, MACHINE, Path("/other")):
        assert command[1:3] == ["--prefix", "/other"]


def test_what_stands_is_left_alone_and_half_of_it_is_finished() -> None:
    assert commands(ADA, knows(MACHINE, made(ADA), ada=ADA.uid)) == []
    assert [each[0] for each in commands(ADA, knows(MACHINE, ada=ADA.uid))] == ["useradd"]


@pytest.mark.parametrize(
    ("machine", "found"),
    [
        (knows(MACHINE, Account("ada", 1001, 1001, "/home/ada")), "number 1001, group 1001, home /home/ada"),
        (knows(MACHINE, Account("eve", ADA.uid, 5, "/home/eve")), "it is that of eve"),
        (knows(MACHINE, render=ADA.uid), "it is that of render"),
        (knows(MACHINE, ada=44), "a group ada with number 44"),
    ],
)
def test_a_name_or_a_number_of_somebody_else_is_refused_in_words(machine: Machine, found: str) -> None:
    with pytest.raises(LoginError) as refused:
        commands(ADA, machine)
    assert refused.value.found == found
    assert refused.value.remedy
    assert NUMBER in refused.value.expected


WANTED = {name: uid_of(name) for name in ("ada", "grace")}


@pytest.mark.parametrize(
    ("owners", "given_"),
    [
        ({}, {}),
        ({"ada": None}, {}),
        ({"ada": uid_of("ada")}, {}),
        ({"ada": 1234}, {"ada": 1234}),
        ({"ada": 1234, "grace": 1235}, {"ada": 1234, "grace": 1235}),
        ({"ada": 1234, "grace": 1234}, {}),
        ({"ada": uid_of("grace")}, {}),
        ({"ada": 0}, {}),
        ({"ada": 999}, {}),
        ({"ada": 1000}, {}),
        ({"ada": 60_000}, {}),
        ({"ada": 65_534}, {}),
    ],
    ids=str,
)
def test_who_owns_a_home_on_the_volume_is_followed_where_it_can_only_be_theirs(
    owners: dict[str, int | None], given_: dict[str, int]
) -> None:
    assert numbers(WANTED, owners, MACHINE, PEOPLE) == {**WANTED, **given_}


def test_a_number_that_was_followed_is_followed_on_the_next_boot_too() -> None:
    known = knows(MACHINE, Account("ada", 1234, 1234, "/data/home/ada"), ada=1234)
    assert numbers(WANTED, {"ada": 1234}, known, PEOPLE)["ada"] == 1234


@given(
    st.lists(NAME, unique=True, max_size=8),
    st.lists(st.one_of(st.none(), st.sampled_from([0, 999, 1000, 1001, 1002]), st.sampled_from(UIDS))),
)
def test_no_two_names_ever_get_one_number_nor_that_of_an_account(
    people: list[str], owned: list[int | None]
) -> None:
    wanted = {name: uid_of(name) for name in people}
    if len(set(wanted.values())) < len(wanted):
        return
    given_ = numbers(wanted, dict(zip(people, owned, strict=False)), MACHINE, PEOPLE)
    assert set(given_) == set(people)
    assert len(set(given_.values())) == len(given_)
    assert not set(given_.values()) & {0, 999, 1000}
