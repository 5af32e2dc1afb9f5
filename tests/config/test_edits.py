"""Changes of config.toml: exactly what was meant, and nothing else."""

from __future__ import annotations

import tomllib

import pytest

from coilclaw.config import with_values
from coilclaw.sdk import OperatorError


@pytest.mark.parametrize(
    ("text", "key", "after"),
    [
        ("", ("a",), 'a = "x"\n'),
        ("a = 'old'  # gone\nb = 1\n", ("a",), 'a = "x"\nb = 1\n'),
        ("b = 1\n[t]\na = 2\n", ("a",), 'a = "x"\nb = 1\n[t]\na = 2\n'),
        ("[t] # mine\nb = 1\n[u]\na = 2\n", ("t", "a"), '[t] # mine\nb = 1\na = "x"\n[u]\na = 2\n'),
        ("# [t]\n# a = 1\n", ("t", "a"), '# [t]\n# a = 1\n\n[t]\na = "x"\n'),
        ("[t.u]\nb = 1", ("t", "u", "a"), '[t.u]\nb = 1\na = "x"'),
    ],
)
def test_one_key_is_changed_and_comments_stay(text: str, key: tuple[str, ...], after: str) -> None:
    assert with_values(text, {key: "x"}) == after


@pytest.mark.parametrize("value", ["a$b", 'q"uote', "new\nline", "back\\slash", "\x7f", "ä"])
def test_any_text_is_written_as_it_is(value: str) -> None:
    assert tomllib.loads(with_values("", {("a",): value})) == {"a": value.replace("$", "$$")}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("t = { a = 'old' }\n", ("t", "a")),
        ("t.a = 'old'\n", ("t", "a")),
        ('s = """\na = 1\n"""\na = "old"\n', ("a",)),
        ("a = [\n1,\n]\n", ("a",)),
        ("t = 1\n", ("t", "a")),
        ("a = ", ("a",)),
    ],
)
def test_a_file_that_would_say_something_else_is_refused(text: str, key: tuple[str, ...]) -> None:
    with pytest.raises(OperatorError, match="cannot change"):
        with_values(text, {key: "x"})
