"""Untrusted text for people: nothing in it is invisible, controls a terminal, or passes for something else."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Callable

import pytest
from tests.sampling import EVERYTHING

from coilclaw.sdk.legible import (
    MOST_BLANKS,
    MOST_INDENT,
    MOST_MARKS,
    as_name,
    cells,
    legible_line,
    legible_lines,
    one_line,
    visible,
    visible_block,
)

# Default_Ignorable_Code_Point of Unicode, by its ranges.
IGNORABLE = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
BLANK_BY_NAME = re.compile(
    r"VARIATION SELECTOR|LETTER SELECTOR|JOINER$|(HANGUL|KHITAN).* FILLER|VOWEL INHERENT|PATTERN BLANK|"
    r"(FULL|HALF) BLANK|NULL NOTEHEAD|LOST SIGN|TALL LOST|WIDE LOST"
)


def is_seen(char: str) -> bool:
    """The rule: a letter, number, sign or mark that draws something; of the separators, the ordinary blank alone."""
    code = ord(char)
    if any(first <= code <= last for first, last in IGNORABLE) or BLANK_BY_NAME.search(unicodedata.name(char, "")):
        return False
    return char == " " or unicodedata.category(char)[0] in "LMNPS"


def test_every_character_of_unicode_is_seen_or_written_out() -> None:
    wrong = []
    # Above the third plane there are the tags and otherwise nothing that has a name.
    codes = range(sys.maxunicode + 1) if EVERYTHING else (*range(0x30000), *range(0xE0000, 0xE1000))
    for code in codes:
        char = chr(code)
        shown = visible(f"a{char}a")[1:-1]
        if shown != (char if is_seen(char) else json.dumps(char)[1:-1]):
            wrong.append(f"U+{code:04X}")
    assert not wrong, wrong[:50]


@pytest.mark.parametrize("function", [visible, one_line, legible_line, as_name])
def test_what_is_written_out_is_ascii_on_one_line(function: Callable[[str], str]) -> None:
    hostile = "x\n\r\x0b\x0c\x1c\x85\u2028\u2029\x1b[2J\x9b\x07\u202e\u3164\ufe0f\U000e0041\ud800y"
    assert all(" " <= char <= "~" or char in "⟦⟧⇥" for char in function(hostile))


@pytest.mark.parametrize("text", ["a\nb\x1b", "\u0301a", "a" + "\u0301" * 20, "⟦3 blanks⟧", "é\u200b \ud800", " " * 99])
def test_making_text_visible_twice_changes_nothing(text: str) -> None:
    assert visible(visible(text)) == visible(text)
    assert visible(one_line(text)) == one_line(text)
    assert visible(legible_line(text)) == legible_line(text)


def test_a_long_run_of_blanks_is_counted_and_a_short_one_is_shown() -> None:
    assert one_line("a" + " " * MOST_BLANKS + "b") == "a" + " " * MOST_BLANKS + "b"
    assert one_line("echo ok" + " " * 2100 + "; evil") == "echo ok⟦2100 blanks⟧; evil"
    assert one_line("a" + "\u00a0" * 40 + "b") == "a⟦40 times \\u00a0⟧b"
    assert one_line("a" + "\n" * 40 + "b") == "a⟦40 times \\n⟧b"
    assert one_line("─" * 40) == "─" * 40


def test_a_text_cannot_forge_the_count_nor_the_sign_of_a_tab() -> None:
    forged = one_line("a⟦2100 blanks⟧b ⇥   c")
    assert forged == "a⟦U+27E6⟧2100 blanks⟦U+27E7⟧b ⟦U+21E5⟧   c"
    texts = [" " * 20, "⟦20 blanks⟧", "\t", "⇥   ", "⟦U+21E5⟧   ", "    ", "⟦", "⟦U+27E6⟧"]
    assert len({legible_line(f"a{text}b") for text in texts}) == len(texts)


def test_a_stack_of_marks_is_written_out() -> None:
    assert one_line("e\u0301") == "e\u0301"
    shown = one_line("e" + "\u0301" * 30)
    assert shown.count("\u0301") <= MOST_MARKS
    assert visible("\u0338=") == "\\u0338="  # There is nothing of its own to sit on.
    assert as_name("\u0301 x") == '"\\u0301 x"'


def test_a_line_of_text_keeps_its_indentation_and_shows_its_end() -> None:
    assert legible_line(" " * MOST_INDENT + "x") == " " * MOST_INDENT + "x"
    assert legible_line(" " * 50 + "x") == "⟦50 blanks⟧x"
    assert legible_line("\tx") == "⇥   x"
    assert legible_line("x ") == "x⟦1 blank⟧"
    assert legible_line("    ") == "⟦4 blanks⟧"
    assert legible_line("x\r") == "x\\r"
    assert legible_lines("a\r\nb\rc\x0cd") == ["a", "b", "c\\fd"]


def test_a_name_that_could_pass_for_more_is_quoted() -> None:
    for plain in ("files.write", "tools/a-b/c.py", "größe", "run-1a", "名前"):
        assert as_name(plain) == plain
    assert as_name("files.read  receipt-1 (allow-once)") == '"files.read  receipt-1 (allow-once)"'
    assert as_name("") == '""'
    assert as_name('a"b') == '"a\\"b"'
    assert as_name("a\nb") == '"a\\nb"'
    assert as_name("x" * 100, 10) == "x" * 10 + "… (100 characters)"


def test_a_block_keeps_its_lines_and_tabs_alone() -> None:
    assert visible_block("a\n\tb\x1b[2J\r\n") == "a\n\tb\\u001b[2J\\r\n"


def test_cells_are_counted_as_a_terminal_does() -> None:
    assert [cells(text) for text in ("ab", "é", "e\u0301", "名", "…")] == [2, 1, 1, 2, 1]
