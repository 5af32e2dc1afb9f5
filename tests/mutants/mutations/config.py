"""Mutations of the configuration."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_PLACES: Final = "tests/config/test_places.py"
_DISCLOSURE: Final = "tests/config/test_disclosure.py"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.config.places:overlap",
        "if inner == outer:",
        "if False:",
        _PLACES,
        "the home is no workspace",
    ),
    Mutation(
        "coilclaw.config.places:overlap",
        "if inner.is_relative_to(outer):",
        "if False:",
        _PLACES,
        "no workspace is around the home",
    ),
    Mutation(
        "coilclaw.config.places:overlap",
        "if outer.is_relative_to(inner):",
        "if False:",
        _PLACES,
        "no workspace is inside the home",
    ),
    Mutation(
        "coilclaw.config.places:overlap",
        "home.resolve(), workspace.resolve()",
        "home, workspace",
        _PLACES,
        "a link does not hide where the home is",
    ),
    Mutation(
        "coilclaw.config.places:_settle_forbidden",
        "if _PATTERN.search(text):",
        "if False:",
        _PLACES,
        "a pattern forbids nothing, and is refused",
    ),
    Mutation(
        "coilclaw.config.places:_settle_forbidden",
        'elif not (text.startswith("~") or Path(text).is_absolute()):',
        "elif False:",
        _PLACES,
        "a relative forbidden path is refused",
    ),
    Mutation(
        "coilclaw.config.places:settle_paths",
        'home if sources.get(name) == "config.toml" else None',
        "None",
        _PLACES,
        "a relative path belongs to the folder of the file",
    ),
    Mutation(
        "coilclaw.config.places:STORE_SUFFIXES",
        '"-wal", ',
        "",
        _PLACES,
        "what SQLite writes beside the log is ours",
    ),
    Mutation(
        "coilclaw.config.places:own_paths",
        "receipts.key_path, ",
        "",
        _PLACES,
        "the key is ours wherever it is",
    ),
    Mutation(
        "coilclaw.config.disclosure:disclosed",
        "return _hidden(value)",
        "return value",
        _DISCLOSURE,
        "a key that nobody called harmless is hidden",
    ),
    Mutation(
        "coilclaw.config.disclosure:_integration",
        "return _hidden(value)",
        "return value",
        _DISCLOSURE,
        "settings of integrations are hidden",
    ),
    Mutation(
        "coilclaw.config.disclosure:_integration",
        "*(HIDDEN for _ in value[1:])",
        "*value[1:]",
        _DISCLOSURE,
        "arguments of a server's program are hidden",
    ),
    Mutation(
        "coilclaw.config.disclosure:_origin",
        'f"{origin}/{HIDDEN}"',
        "url",
        _DISCLOSURE,
        "of a URL only the server is shown",
    ),
    Mutation(
        "coilclaw.config.disclosure:_rule",
        "value if key in _RULE_WORDS else _hidden(value)",
        "value",
        _DISCLOSURE,
        "arguments of rules are hidden",
    ),
    Mutation(
        "coilclaw.config.disclosure:disclosed",
        " and not key.startswith(_FOREIGN)",
        "",
        _DISCLOSURE,
        "a number that somebody else chose is hidden",
    ),
    Mutation(
        "coilclaw.config.edits:_escaped",
        'replace("$", "$$")',
        'replace("$", "$")',
        "tests/config/test_edits.py -k any_text",
        "what is entered is written as text, never as a variable",
    ),
)
