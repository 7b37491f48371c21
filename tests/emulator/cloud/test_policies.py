"""Policy evaluation against the rules of the IAM User Guide."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.emulator.cloud.iam import Ask, judge
from nightshift.emulator.cloud.iam_conditions import UnknownOperatorError, arn_like, expand, glob, holds

VOLUME = "arn:aws:ec2:us-east-1:123456789012:volume/vol-1"


def document(*statements: dict[str, Any]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": list(statements)}


def allow(action: Any = "ec2:AttachVolume", resource: Any = "*", **more: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": action, "Resource": resource} | more


def verdict(*statements: dict[str, Any], action: str = "ec2:AttachVolume", **context: list[str]) -> str:
    keys = {key.replace("__", ":").replace("_S_", "/"): value for key, value in context.items()}
    return judge([document(*statements)], Ask(action, VOLUME, keys))


def test_nothing_is_allowed_unless_said() -> None:
    assert judge([], Ask("ec2:AttachVolume", VOLUME)) == "none"
    assert verdict(allow("ec2:DetachVolume")) == "none"


def test_an_explicit_deny_wins_in_any_order() -> None:
    deny = allow("ec2:*") | {"Effect": "Deny"}
    assert verdict(allow(), deny) == "deny"
    assert verdict(deny, allow()) == "deny"


@pytest.mark.parametrize(
    "action", ["ec2:AttachVolume", "EC2:attachvolume", "ec2:Attach*", "*", "ec2:?ttachVolume"]
)
def test_actions_match_without_case_and_with_wildcards(action: str) -> None:
    assert verdict(allow(action)) == "allow"


def test_not_action_and_not_resource_turn_the_match_round() -> None:
    assert verdict({"Effect": "Allow", "NotAction": "s3:*", "Resource": "*"}) == "allow"
    assert verdict({"Effect": "Allow", "NotAction": "ec2:*", "Resource": "*"}) == "none"
    assert verdict({"Effect": "Allow", "Action": "*", "NotResource": VOLUME}) == "none"


def test_resources_match_by_wildcards_only() -> None:
    assert verdict(allow(resource="arn:aws:ec2:us-east-1:123456789012:volume/*")) == "allow"
    assert verdict(allow(resource="arn:aws:ec2:us-east-1:123456789012:instance/*")) == "none"


def test_a_variable_confines_a_node_to_its_own_record() -> None:
    mine = "arn:aws:s3:::data/nodes/${aws:userid}/*"
    context = {"aws:userid": ["AROA1:i-1"]}
    statements = [document(allow("s3:PutObject", mine))]
    own = Ask("s3:PutObject", "arn:aws:s3:::data/nodes/AROA1:i-1/readiness.json", context)
    other = Ask("s3:PutObject", "arn:aws:s3:::data/nodes/AROA1:i-2/readiness.json", context)
    assert judge(statements, own) == "allow"
    assert judge(statements, other) == "none"


def test_what_a_variable_brings_in_is_literal() -> None:
    assert not glob("a/${aws:userid}", "a/anything", {"aws:userid": ["*"]})
    assert glob("a/${aws:userid}", "a/*", {"aws:userid": ["*"]})
    assert glob("a/${*}", "a/*", {})
    assert not glob("a/${*}", "a/b", {})


def test_a_missing_variable_matches_nothing_unless_it_has_a_default() -> None:
    assert expand("x-${aws:userid}", {}) is None
    assert expand("x-${aws:userid, 'nobody'}", {}) == "x-nobody"
    assert not glob("${aws:userid}", "", {})


TAG = {"aws:ResourceTag/nightshift:site": ["lab"]}


@pytest.mark.parametrize(
    ("operator", "key", "wanted", "met"),
    [
        ("StringEquals", "aws:ResourceTag/nightshift:site", "lab", True),
        ("StringEquals", "AWS:resourcetag/Nightshift:Site", "lab", True),
        ("StringEquals", "aws:ResourceTag/nightshift:site", "Lab", False),
        ("StringEqualsIgnoreCase", "aws:ResourceTag/nightshift:site", "LAB", True),
        ("StringEquals", "aws:ResourceTag/nightshift:site", ["desk", "lab"], True),
        ("StringNotEquals", "aws:ResourceTag/nightshift:site", ["desk", "lab"], False),
        ("StringNotEquals", "aws:ResourceTag/nightshift:site", ["desk", "vit"], True),
        ("StringLike", "aws:ResourceTag/nightshift:site", "l?b", True),
        ("StringNotLike", "aws:ResourceTag/nightshift:site", "l*", False),
        ("StringEquals", "aws:ResourceTag/other", "lab", False),
        ("StringNotEquals", "aws:ResourceTag/other", "lab", True),
        ("StringEqualsIfExists", "aws:ResourceTag/other", "lab", True),
        ("StringEqualsIfExists", "aws:ResourceTag/nightshift:site", "desk", False),
        ("Null", "aws:ResourceTag/other", "true", True),
        ("Null", "aws:ResourceTag/other", True, True),
        ("Null", "aws:ResourceTag/nightshift:site", "true", False),
        ("Null", "aws:ResourceTag/nightshift:site", "false", True),
    ],
)
def test_string_and_null_operators(operator: str, key: str, wanted: Any, met: bool) -> None:
    assert holds(operator, key, wanted, TAG) is met


@pytest.mark.parametrize(
    ("operator", "wanted", "given", "met"),
    [
        ("Bool", "false", "true", False),
        ("Bool", False, "false", True),
        ("NumericLessThanEquals", "10", "10", True),
        ("NumericLessThan", "10", "10", False),
        ("NumericNotEquals", "10", "9", True),
        ("NumericGreaterThan", 5, "x", False),
        ("DateLessThan", "2026-12-01T00:00:00Z", "2026-11-30T00:00:00Z", True),
        ("DateGreaterThanEquals", "2026-12-01T00:00:00Z", "2026-11-30T00:00:00Z", False),
        ("IpAddress", "10.0.0.0/8", "10.1.2.3", True),
        ("NotIpAddress", "10.0.0.0/8", "10.1.2.3", False),
        ("ArnLike", "arn:aws:ec2:*:*:instance/i-*", "arn:aws:ec2:us-east-1:1:instance/i-1", True),
        ("ArnEquals", "arn:aws:ec2:*:*:instance/i-*", "arn:aws:ec2:us-east-1:1:instance/i-1", True),
        ("ArnNotLike", "arn:aws:ec2:*:*:instance/*", "arn:aws:ec2:us-east-1:1:volume/v", True),
    ],
)
def test_other_operators(operator: str, wanted: Any, given: str, met: bool) -> None:
    assert holds(operator, "key", wanted, {"key": [given]}) is met


@pytest.mark.parametrize(
    ("operator", "values", "met"),
    [
        ("ForAllValues:StringEquals", ["Name"], True),
        ("ForAllValues:StringEquals", ["Name", "other"], False),
        ("ForAllValues:StringEquals", None, True),
        ("ForAnyValue:StringEquals", ["Name", "other"], True),
        ("ForAnyValue:StringEquals", ["other"], False),
        ("ForAnyValue:StringEquals", None, False),
        ("ForAllValues:StringNotEquals", ["other"], True),
        ("ForAllValues:StringNotEquals", ["other", "Name"], False),
        ("ForAnyValue:StringNotEquals", ["other", "Name"], True),
        ("ForAnyValue:StringLike", ["nightshift:x"], True),
    ],
)
def test_set_operators(operator: str, values: list[str] | None, met: bool) -> None:
    context = {} if values is None else {"aws:TagKeys": values}
    assert holds(operator, "aws:TagKeys", ["Name", "nightshift:*"], context) is met


def test_the_six_parts_of_an_arn_are_matched_one_by_one() -> None:
    assert not arn_like("arn:*:instance/i-1", "arn:aws:ec2:us-east-1:1:instance/i-1", {})
    assert arn_like("arn:aws:autoscaling:*:*:*", "arn:aws:autoscaling:r:1:autoScalingGroup:id:name/x", {})


def test_an_unknown_operator_fails_closed() -> None:
    with pytest.raises(UnknownOperatorError):
        holds("StringSounds", "key", "x", {"key": ["x"]})
    odd = {"Condition": {"StringSounds": {"key": "x"}}}
    assert verdict(allow(**odd)) == "none"
    assert verdict(allow(), allow(**odd) | {"Effect": "Deny"}) == "deny"


def test_all_operators_and_all_keys_must_hold() -> None:
    condition = {"StringEquals": {"a": "1", "b": "2"}, "Bool": {"c": "true"}}
    statement = allow(Condition=condition)
    assert verdict(statement, a=["1"], b=["2"], c=["true"]) == "allow"
    assert verdict(statement, a=["1"], b=["3"], c=["true"]) == "none"
    assert verdict(statement, a=["1"], b=["2"]) == "none"


def test_a_bucket_policy_names_whom_it_means() -> None:
    role = "arn:aws:sts::123456789012:assumed-role/vit/i-1"
    statement = allow("s3:GetObject", "arn:aws:s3:::b/*")
    for principal, met in (
        ("*", "allow"),
        ({"AWS": "*"}, "allow"),
        ({"AWS": "arn:aws:iam::123456789012:role/vit"}, "allow"),
        ({"AWS": "123456789012"}, "allow"),
        ({"AWS": "arn:aws:iam::123456789012:role/desk"}, "none"),
        ({"Service": "delivery.logs.amazonaws.com"}, "none"),
    ):
        ask = Ask("s3:GetObject", "arn:aws:s3:::b/k", {}, role)
        assert judge([document(statement | {"Principal": principal})], ask) == met


words = st.text("abc*?-", min_size=1, max_size=8)


@given(words, words)
def test_negated_operators_are_the_opposite_when_the_key_is_there(pattern: str, text: str) -> None:
    context = {"key": [text]}
    for operator in ("StringEquals", "StringLike", "StringEqualsIgnoreCase"):
        negated = operator.replace("String", "StringNot")
        assert holds(operator, "key", pattern, context) is not holds(negated, "key", pattern, context)


@given(words)
def test_a_text_without_wildcards_matches_itself_alone(text: str) -> None:
    plain = text.replace("*", "x").replace("?", "y")
    assert glob(plain, plain, {})
    assert not glob(plain, plain + "z", {})


@given(st.lists(st.sampled_from(["Allow", "Deny"]), min_size=1, max_size=5))
def test_any_deny_among_matching_statements_denies(effects: list[str]) -> None:
    statements = [allow() | {"Effect": effect} for effect in effects]
    assert verdict(*statements) == ("deny" if "Deny" in effects else "allow")
