"""Tables, wrapping and colour."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from nightshift.cli.text import WIDTH, paint, safe, table, wants_colour, wrap

_word = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=20)
_long = st.lists(_word, max_size=60).map(" ".join)


@given(st.lists(st.tuples(_word, _word, _word, _word, _word, _long), max_size=8))
def test_no_table_is_wider_than_the_page_and_none_loses_a_word(rows: list[tuple[str, ...]]) -> None:
    lines = table(["A", "B", "C", "D", "E", "F"], rows)
    assert all(len(line) <= WIDTH for line in lines)
    words = " ".join(lines).split()
    for row in rows:
        for cell in row:
            assert set(cell.split()) <= set(words)


@given(_long, st.integers(0, 20))
def test_no_sentence_is_wider_than_the_page(sentence: str, indent: int) -> None:
    lines = wrap(sentence, indent, "x ")
    assert all(len(line) <= WIDTH for line in lines)
    assert " ".join(lines).split() == ["x", *sentence.split()]


@given(st.text())
def test_what_steers_a_terminal_is_written_out_and_all_else_stays(text: str) -> None:
    told = safe(text)
    assert not any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in told.replace("\t", ""))
    assert told == text or len(told) > len(text)


def test_a_turned_line_and_a_bell_are_written_out() -> None:
    assert safe("a\x1b[2J\u202eb\x07") == "a\\x1b[2J\\u202eb\\x07"
    assert safe("Grün 学习\t1") == "Grün 学习\t1"


def test_numbers_stand_at_the_right() -> None:
    assert table(["WHAT", "USD"], [["a", "1.00"], ["bb", "100.00"]], right=(1,)) == [
        "WHAT     USD",
        "a       1.00",
        "bb    100.00",
    ]


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_needs_a_terminal_and_no_objection() -> None:
    assert wants_colour(_Terminal(), {"TERM": "xterm"})
    assert not wants_colour(io.StringIO(), {"TERM": "xterm"})
    assert not wants_colour(_Terminal(), {"NO_COLOR": "1"})
    assert not wants_colour(_Terminal(), {"TERM": "dumb"})


def test_verdicts_and_headings_are_coloured_and_nothing_else() -> None:
    assert paint("ok    python") == "\x1b[32mok\x1b[0m    python"
    assert paint("problem  vit: dead") == "\x1b[31mproblem\x1b[0m  vit: dead"
    assert paint("GROUP  NOW   NEXT") == "\x1b[1mGROUP  NOW   NEXT\x1b[0m"
    assert paint("okra is a group") == "okra is a group"


def test_an_address_is_not_broken() -> None:
    address = "https://docs.example.org/" + "a-long-way/" * 9
    assert address in wrap(f"install it as is told there: {address}", 2, "  ")[1]
