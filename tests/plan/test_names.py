from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.catalog import limits
from nightshift.plan import names
from nightshift.plan.errors import PlanError

LONGEST = "a" * names.NAME_CHARS
REGION = "ap-southeast-99"
name = st.from_regex(names.NAME_PATTERN, fullmatch=True)


@given(name, name)
def test_every_name_of_a_valid_site_fits_its_limit(site: str, group: str) -> None:
    assert len(names.group_name(site, group)) in limits.TEMPLATE_NAME_CHARS
    assert len(names.role_name(site, REGION, group)) in limits.ROLE_NAME_CHARS
    assert len(names.budget_name(site, REGION)) in limits.BUDGET_NAME_CHARS
    assert len(names.bucket_name(site, "artifacts", "123456789012", REGION)) in limits.BUCKET_NAME_CHARS
    for value in names.volume_tags(site, group, "lab", index=99, policy=group).values():
        assert len(value) in limits.TAG_VALUE_CHARS


@given(name, name, name, name)
def test_no_two_groups_share_a_role(site: str, group: str, other_site: str, other: str) -> None:
    same = names.role_name(site, REGION, group) == names.role_name(other_site, REGION, other)
    joined = f"{site}-{REGION}-{group}" == f"{other_site}-{REGION}-{other}"
    assert same == joined


def test_a_long_role_is_cut_and_told_apart_by_a_hash() -> None:
    one = names.role_name(LONGEST, REGION, "b" * 20)
    two = names.role_name(LONGEST, REGION, "b" * 19 + "c")
    assert len(one) == len(two) == limits.ROLE_NAME_CHARS.most
    assert one != two


def test_bucket_names_differ_by_account_and_region() -> None:
    made = {
        names.bucket_name("lab", "data", account, region)
        for account in ("1", "2")
        for region in ("us-east-1", "eu-west-1")
    }
    assert len(made) == 4
    assert all(bucket.startswith("nightshift-lab-data-") for bucket in made)


def test_a_name_that_does_not_fit_shows_the_sum() -> None:
    with pytest.raises(PlanError, match=r'11 \("nightshift-"\) \+ 60 .* = 90 characters, AWS allows 3 to 63'):
        names.bucket_name("a" * 60, "artifacts", "1", "us-east-1")


@pytest.mark.parametrize("value", ["", "Lab", "1lab", "lab-", "a" * 21, "la_b", "lab\n"])
def test_a_bad_name_says_what_is_allowed(value: str) -> None:
    problem = names.name_problem("site", value)
    assert problem is not None
    assert "expected 1 to 20 of a-z" in problem


@given(name)
def test_a_good_name_has_no_problem(value: str) -> None:
    assert names.name_problem("site", value) is None


def test_only_a_volume_with_a_policy_carries_the_snapshot_tag() -> None:
    assert names.TAG_SNAPSHOTS not in names.volume_tags("lab", "runs", "vision")
    assert names.volume_tags("lab", "runs", "vision", policy="nightly")[names.TAG_SNAPSHOTS] == "lab.nightly"
    assert names.TAG_SNAPSHOTS not in names.node_tags("lab", "vit", "vision")
    assert names.TAG_SNAPSHOTS not in names.common_tags("lab", "vpc", "vision", "x")


def test_the_snapshot_policy_describes_itself_in_the_letters_dlm_takes() -> None:
    text = names.policy_description("lab-2", "nightly")
    assert all(letter.isalnum() or letter in " _-" for letter in text)


def test_a_pool_volume_carries_its_index() -> None:
    tags = names.volume_tags("lab", "scratch", "vision", index=3)
    assert (tags[names.TAG_INDEX], tags[names.TAG_PART]) == ("3", "volume-scratch.3")
