"""A shell script as data, and the text it is run as.

What is judged is what is run: a command is parsed into these types, judged, and written out again
with every literal in single quotes. Where the parser and the shell disagree about some text, the shell
never sees that text, so a misreading cannot become a command that nobody judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

__all__ = [
    "Arithmetic",
    "Assignment",
    "Chain",
    "For",
    "Group",
    "If",
    "Literal",
    "Loop",
    "Negated",
    "Part",
    "Pattern",
    "Pipeline",
    "Process",
    "Redirect",
    "Redirected",
    "Refused",
    "Script",
    "Simple",
    "Statement",
    "Substitution",
    "Variable",
    "Word",
    "rendered",
]


class Refused(Exception):
    """The command is denied at every autonomy level; the text says what and why, for whoever rewrites it."""


@dataclass(frozen=True)
class Literal:
    text: str


@dataclass(frozen=True)
class Pattern:
    """An unquoted `*`, `?` or `[…]`."""

    text: str


@dataclass(frozen=True)
class Variable:
    name: str
    quoted: bool
    length: bool = False


@dataclass(frozen=True)
class Substitution:
    script: Script
    quoted: bool


@dataclass(frozen=True)
class Process:
    script: Script
    direction: str


@dataclass(frozen=True)
class Arithmetic:
    text: str
    names: tuple[str, ...]


Part: TypeAlias = Literal | Pattern | Variable | Substitution | Process | Arithmetic


@dataclass(frozen=True)
class Word:
    parts: tuple[Part, ...]

    @property
    def literal(self) -> str | None:
        """The text of the word when it is the same on every run, else None."""
        texts = [part.text for part in self.parts if isinstance(part, Literal)]
        return "".join(texts) if len(texts) == len(self.parts) else None


@dataclass(frozen=True)
class Redirect:
    """`descriptor` may be empty. A target of None means that another descriptor is copied or closed."""

    descriptor: str
    operator: str
    target: Word | None
    copied: str = ""


@dataclass(frozen=True)
class Assignment:
    name: str
    value: Word


@dataclass(frozen=True)
class Simple:
    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()
    exported: bool = False


@dataclass(frozen=True)
class Pipeline:
    stages: tuple[Statement, ...]
    joins: tuple[str, ...]


@dataclass(frozen=True)
class Chain:
    left: Statement
    operator: str
    right: Statement


@dataclass(frozen=True)
class Negated:
    body: Statement


@dataclass(frozen=True)
class Group:
    script: Script
    subshell: bool


@dataclass(frozen=True)
class Loop:
    keyword: str
    condition: Script
    body: Script


@dataclass(frozen=True)
class For:
    name: str
    words: tuple[Word, ...]
    body: Script


@dataclass(frozen=True)
class If:
    branches: tuple[tuple[Script, Script], ...]
    otherwise: Script | None


@dataclass(frozen=True)
class Redirected:
    body: Statement
    redirects: tuple[Redirect, ...]


Statement: TypeAlias = Simple | Pipeline | Chain | Negated | Group | Loop | For | If | Redirected


@dataclass(frozen=True)
class Script:
    statements: tuple[Statement, ...]
    background: frozenset[int] = field(default_factory=frozenset)
    """The positions of the statements that end with `&`."""


# A file named like an option must not become one through `*`. The variable also turns dotglob on, so it is turned off.
_PRELUDE = "GLOBIGNORE='-*'\nshopt -u dotglob\n"


def rendered(script: Script) -> str:
    """The text for bash, with nothing left for it to interpret that was not judged."""
    return _PRELUDE + _script(script)


def _script(script: Script) -> str:
    lines = [
        _statement(each) + (" &" if number in script.background else "")
        for number, each in enumerate(script.statements)
    ]
    return "\n".join(lines or [":"]) + "\n"


def _statement(statement: Statement) -> str:
    match statement:
        case Simple():
            return _simple(statement)
        case Pipeline(stages, joins):
            text = _statement(stages[0])
            for join, stage in zip(joins, stages[1:], strict=True):
                text += f" {join} {_statement(stage)}"
            return text
        case Chain(left, operator, right):
            return f"{_statement(left)} {operator} {_statement(right)}"
        case Negated(body):
            return f"! {_statement(body)}"
        case Group(script, subshell):
            return f"(\n{_script(script)})" if subshell else f"{{\n{_script(script)}}}"
        case Loop(keyword, condition, body):
            return f"{keyword}\n{_script(condition)}do\n{_script(body)}done"
        case For(name, words, body):
            return f"for {name} in {' '.join(_word(word) for word in words)}\ndo\n{_script(body)}done"
        case If(branches, otherwise):
            text = ""
            for number, (condition, body) in enumerate(branches):
                text += f"{'elif' if number else 'if'}\n{_script(condition)}then\n{_script(body)}"
            return text + ("" if otherwise is None else f"else\n{_script(otherwise)}") + "fi"
        case Redirected(body, redirects):
            return " ".join([_statement(body), *map(_redirect, redirects)])


def _simple(command: Simple) -> str:
    assignments = [f"{each.name}={_word(each.value)}" for each in command.assignments]
    pieces = [*assignments, *map(_word, command.words), *map(_redirect, command.redirects)]
    return " ".join(["export", *pieces] if command.exported else pieces)


def _redirect(redirect: Redirect) -> str:
    target = redirect.copied if redirect.target is None else " " + _word(redirect.target)
    return f"{redirect.descriptor}{redirect.operator}{target}"


def _word(word: Word) -> str:
    return "".join(map(_part, word.parts)) or "''"


def _part(part: Part) -> str:
    match part:
        case Literal(text):
            return "'" + text.replace("'", "'\"'\"'") + "'" if text else ""
        case Pattern(text):
            return text
        case Variable(name, quoted, length):
            text = f"${{#{name}}}" if length else f"${{{name}}}"
            return f'"{text}"' if quoted else text
        case Substitution(script, quoted):
            text = f"$(\n{_script(script)})"
            return f'"{text}"' if quoted else text
        case Process(script, direction):
            return f"{direction}(\n{_script(script)})"
        case Arithmetic(text, _):
            return f"$(({text}))"
