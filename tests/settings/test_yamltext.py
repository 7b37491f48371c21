"""A stack file's YAML means what it means to Pulumi."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightshift.settings import scalars, yamltext
from nightshift.settings.document import config_of


def value(text: str) -> object:
    """The value of `a: <text>`."""
    loaded = yamltext.load(f"a: {text}\n".encode())
    assert isinstance(loaded, dict)
    return loaded["a"]


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("07:00", "07:00"),
        ("190:20:30", "190:20:30"),
        ("on", "on"),
        ("No", "No"),
        ("y", "y"),
        ("TRUE", True),
        ("tRUE", "tRUE"),
        ("~", None),
        ("", None),
        ("nULL", "nULL"),
        ("0777", 511),
        ("-0777", -511),
        ("0o17", 15),
        ("08", 8),
        ("0x1F", 31),
        ("-0b11", -3),
        ("1_000", 1000),
        ("_1", "_1"),
        ("0x", "0x"),
        ("+1", 1),
        ("1e3", 1000),
        ("1.0", 1),
        ("1e21", 1e21),
        ("1e400", "1e400"),
        (".5_0", 0.5),
        (".", "."),
        ("9223372036854775808", 9223372036854775808),
        ("+9223372036854775808", 9223372036854776000),
        ("99999999999999999999", 100000000000000000000),
        ("0x1FFFFFFFFFFFFFFFF", "0x1FFFFFFFFFFFFFFFF"),
        ("2026-12-24", "2026-12-24 00:00:00 +0000 UTC"),
        ("2026-1-2", "2026-01-02 00:00:00 +0000 UTC"),
        ("2026-02-30", "2026-02-30"),
        ("0000-01-01", "0000-01-01 00:00:00 +0000 UTC"),
        ("2026-12-24T11:30Z", "2026-12-24T11:30Z"),
        ("2026-12-24T11:30:00Z", "2026-12-24 11:30:00 +0000 UTC"),
        ("2026-12-24T11:30:00.50+05:30", "2026-12-24 11:30:00.5 +0530 +0530"),
        ("2026-12-24 1:2:3", "2026-12-24 01:02:03 +0000 UTC"),
        ("'0777'", "0777"),
        ("!!str 0777", "0777"),
        ("!!int '7'", 7),
        ("!!float 7", 7),
        ("!own 7", "7"),
        ("!!binary aGk=", "hi"),
        ("!!binary /w==", "\ufffd"),
        ("<<", "<<"),
    ],
)
def test_a_scalar_means_what_go_makes_of_it(text: str, meaning: object) -> None:
    assert value(text) == meaning
    assert type(value(text)) is type(meaning)


@given(st.integers(min_value=-(2**63), max_value=2**64 - 1))
def test_whole_numbers_of_64_bits_are_themselves_in_every_base(number: int) -> None:
    sign, size = ("-", -number) if number < 0 else ("", number)
    for text in (
        str(number),
        f"{sign}{hex(size)}",
        f"{sign}{bin(size)}",
        f"{sign}{oct(size)}",
        f"{sign}0{size:o}",
    ):
        assert scalars.plain(text) == number


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=30))
def test_quoted_text_stays_text(text: str) -> None:
    document = json.dumps({"a": text}, ensure_ascii=False).encode()
    assert yamltext.load(document) == {"a": text}


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_fraction_comes_out_as_json_would_give_it(number: float) -> None:
    read = scalars.as_number(repr(number))
    assert read is not None
    assert float(read) == number


def test_merged_keys_yield_to_written_ones_and_the_first_of_a_list_wins() -> None:
    text = b"x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\nz: {c: 3, <<: [*x, *y]}\n"
    loaded = yamltext.load(text)
    assert isinstance(loaded, dict)
    assert loaded["z"] == {"c": 3, "a": 1, "b": 1}


def test_only_the_first_document_counts() -> None:
    assert yamltext.load(b"a: 1\n---\nb: 2\n") == {"a": 1}
    assert yamltext.load(b"---\n---\na: 1\n") is None


def test_a_byte_order_mark_is_skipped() -> None:
    assert yamltext.load(b"\xef\xbb\xbfa: 1\n") == {"a": 1}


def test_text_that_is_not_utf8_is_refused_in_words() -> None:
    with pytest.raises(yamltext.YamlError, match="UTF-8"):
        yamltext.load(b"a: \xff\xfe\n")


@pytest.mark.parametrize("text", ["[" * 400 + "]" * 400, "{a: " * 900 + "}" * 900, "[" * 5000])
def test_an_abyss_of_brackets_is_refused_in_words(text: str) -> None:
    with pytest.raises(yamltext.YamlError, match="nest"):
        yamltext.load(f"a: {text}\n".encode())


def test_a_number_of_thousands_of_digits_is_text() -> None:
    assert value("9" * 5000) == "9" * 5000
    assert value("0" * 5000 + "7") == 7


def test_windows_line_ends_are_fine() -> None:
    assert yamltext.load(b"a: 1\r\nb: on\r\n") == {"a": 1, "b": "on"}


def test_keys_take_pulumis_namespaces() -> None:
    text = b"config: {site: {a: 1}, 'nightshift:config:groups': {b: 2}, aws:region: us-east-1}\n"
    assert config_of(yamltext.load(text))[0] == {
        "nightshift:site": {"a": 1},
        "nightshift:groups": {"b": 2},
        "aws:region": "us-east-1",
    }


def test_pulumis_own_keys_at_the_top_are_left_alone() -> None:
    text = b"encryptionsalt: v1:abc\nsecretsprovider: passphrase\nconfig: {aws:region: us-east-1}\n"
    assert config_of(yamltext.load(text)) == ({"aws:region": "us-east-1"}, frozenset())


def test_encrypted_values_of_others_are_none_of_our_business() -> None:
    config, secret = config_of(yamltext.load(b"config: {other:token: {secure: v1:abc}}\n"))
    assert config == {"other:token": ""}
    assert secret == {"other:token"}
