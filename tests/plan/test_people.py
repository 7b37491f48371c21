"""Numbers, homes and ports of people: from names alone, so that files on a volume keep their owner."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.plan import names
from nightshift.plan.people import (
    FIRST_PORT,
    NOTEBOOK_USER,
    UIDS,
    home_volume,
    notebook_port,
    notebook_users,
    uid_of,
)

NAME = st.from_regex(names.NAME_PATTERN, fullmatch=True)
NAMES = st.lists(NAME, max_size=50, unique=True)


def test_numbers_never_change_since_files_on_volumes_bear_them() -> None:
    assert {name: uid_of(name) for name in ("ada", "grace", "notebook")} == {
        "ada": 30398,
        "grace": 35091,
        "notebook": 39117,
    }


@given(NAME)
def test_a_number_lies_where_neither_images_nor_systemd_give_any_out(name: str) -> None:
    assert uid_of(name) in UIDS
    assert (UIDS.start, UIDS.stop) == (20_000, 60_000)


def test_numbers_are_spread_over_the_whole_range() -> None:
    """50 names of a group meet about 3 times in 100, as they would by chance."""
    numbers = [uid_of(f"user{number}") for number in range(4000)]
    quarters = [sum(each in UIDS[k * 10_000 : (k + 1) * 10_000] for each in numbers) for k in range(4)]
    assert all(900 < each < 1100 for each in quarters)
    assert len(set(numbers)) > 3700


@given(NAMES, st.randoms())
def test_who_else_is_named_and_in_which_order_changes_no_port(users: list[str], dice: random.Random) -> None:
    shuffled = list(users)
    dice.shuffle(shuffled)
    ports = {user: notebook_port(users, user) for user in notebook_users(users)}
    assert ports == {user: notebook_port(shuffled, user) for user in notebook_users(shuffled)}
    assert sorted(ports.values()) == list(range(FIRST_PORT, FIRST_PORT + max(1, len(users))))


def test_without_users_there_is_one_notebook_and_it_has_a_login_of_its_own() -> None:
    assert notebook_users(()) == (NOTEBOOK_USER,)
    assert notebook_port((), NOTEBOOK_USER) == FIRST_PORT
    with pytest.raises(ValueError, match="not in"):
        notebook_port(("ada",), NOTEBOOK_USER)


@pytest.mark.parametrize(
    ("volumes", "told"),
    [
        (("corpora", "home"), "home"),
        (("runs", "data"), "data"),
        (("runs",), "runs"),
        ((), None),
    ],
)
def test_homes_lie_on_the_volume_home_or_on_the_first_by_name(
    volumes: tuple[str, ...], told: str | None
) -> None:
    assert home_volume(volumes) == told
