"""A first look at a whole script: what is assigned in it, and whether it changes the folder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from coilclaw.integrations.shell.programs import is_special_variable
from coilclaw.integrations.shell.script import (
    Chain,
    For,
    Group,
    If,
    Loop,
    Negated,
    Pipeline,
    Process,
    Redirected,
    Refused,
    Script,
    Simple,
    Statement,
    Substitution,
    Word,
)
from coilclaw.integrations.shell.values import Variables

__all__ = ["surveyed"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def surveyed(script: Script, given: Mapping[str, str]) -> tuple[Variables, str | None]:
    """The variables with all the values they are given anywhere, and the folder that a `cd` leads to."""
    variables = Variables(given)
    moves: list[str] = []
    for statement, repeated in _statements(script, repeated=False):
        if isinstance(statement, For):
            _check_name(statement.name)
            for word in statement.words or (Word(()),):
                variables.assign(statement.name, word, loop=True)
        if not isinstance(statement, Simple):
            continue
        name = statement.words[0].literal if statement.words else None
        if not statement.words:
            for assignment in statement.assignments:
                variables.assign(assignment.name, assignment.value)
        elif name == "read":
            for read in _read_names(statement):
                variables.assign(read, None)
        elif name == "cd":
            moves.append(_target(statement))
            if repeated or len(moves) > 1:
                raise Refused("`cd` may be used once, outside of loops; use paths from the workspace, or cwd=")
    return variables, moves[0] if moves else None


def _target(statement: Simple) -> str:
    target = statement.words[1].literal if len(statement.words) == 2 else None
    if not target or target.startswith(("-", "/")):
        raise Refused("`cd` needs one folder of the workspace, written out; or use cwd=")
    return target


def _read_names(statement: Simple) -> list[str]:
    names = [word.literal or "" for word in statement.words[1:] if word.literal != "-r"]
    if not names or not all(map(_NAME.fullmatch, names)):
        raise Refused("`read` may only be used as `read -r name`")
    for name in names:
        _check_name(name)
    return names


def _check_name(name: str) -> None:
    if is_special_variable(name):
        raise Refused(f"{name} changes how commands are found or run; do not assign it")


def _statements(script: Script, *, repeated: bool) -> Iterator[tuple[Statement, bool]]:
    for statement in script.statements:
        yield from _within(statement, repeated)


def _within(statement: Statement, repeated: bool) -> Iterator[tuple[Statement, bool]]:
    yield statement, repeated
    words: list[Word] = []
    match statement:
        case Simple(assignments, arguments, redirects):
            words = [*(each.value for each in assignments), *arguments]
            words += [each.target for each in redirects if each.target is not None]
        case Pipeline(stages, _):
            for stage in stages:
                yield from _within(stage, repeated)
        case Chain(left, _, right):
            yield from _within(left, repeated)
            yield from _within(right, repeated)
        case Negated(body):
            yield from _within(body, repeated)
        case Group(script, _):
            yield from _statements(script, repeated=repeated)
        case Loop(_, condition, body):
            yield from _statements(condition, repeated=True)
            yield from _statements(body, repeated=True)
        case For(_, values, body):
            words = [*values]
            yield from _statements(body, repeated=True)
        case If(branches, otherwise):
            for condition, body in branches:
                yield from _statements(condition, repeated=repeated)
                yield from _statements(body, repeated=repeated)
            if otherwise is not None:
                yield from _statements(otherwise, repeated=repeated)
        case Redirected(body, redirects):
            yield from _within(body, repeated)
            words = [each.target for each in redirects if each.target is not None]
    for word in words:
        for part in word.parts:
            if isinstance(part, Substitution | Process):
                yield from _statements(part.script, repeated=repeated)
