"""Words of a command: what is left when quotes, escapes and braces have been taken off."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from coilclaw.integrations.shell.script import (
    Arithmetic,
    Literal,
    Part,
    Pattern,
    Process,
    Refused,
    Script,
    Substitution,
    Variable,
    Word,
)

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["single_word", "text_of", "words_of"]

Atom: TypeAlias = tuple[str, bool] | Part
"""A character and whether it was quoted, or something that is expanded when the command runs."""

Inner: TypeAlias = "Callable[[Node], Script]"

_MOST_WORDS = 1000
_NUMERIC = frozenset("?#$!")
_EXPANDS = re.compile(r"\$[A-Za-z_0-9{(@*#?!$\-'\"]|`")
_ARITHMETIC = re.compile(r"[A-Za-z0-9_ \t+\-*/%()<>=!&|^~?:]*")
_BRACKET = re.compile(r"[!^]?[A-Za-z0-9_.,\-]+")
_SEQUENCE = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?")
_ESCAPES = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ANSI = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)


def words_of(node: Node, inner: Inner) -> list[Word]:
    """The words that one node stands for: more than one where braces are expanded."""
    expanded = _expanded_braces(list(_atoms(node, inner)))
    # An alternative that is empty, as in {a,}, leaves no word.
    return [Word(tuple(_parts(atoms))) for atoms in expanded if atoms or len(expanded) == 1]


def single_word(node: Node, inner: Inner) -> Word:
    """The same where braces mean nothing: the value of a variable, the text given to a command."""
    return Word(tuple(_parts(list(_atoms(node, inner)))))


def text_of(node: Node) -> str:
    return (node.text or b"").decode()


def _atoms(node: Node, inner: Inner) -> Iterator[Atom]:
    text = text_of(node)
    match node.type:
        case "concatenation":
            end = node.start_byte
            for child in node.children:
                if child.start_byte != end:
                    raise Refused(f"the word {text!r} cannot be read without doubt; quote it as a whole")
                yield from _atoms(child, inner)
                end = child.end_byte
        case "raw_string":
            yield from _quoted(text[1:-1])
        case "ansi_c_string":
            yield from _quoted(_ansi(text[2:-1]))
        case "string":
            yield from _string(node, text, inner)
        case "simple_expansion":
            yield _variable(text[1:], quoted=False)
        case "expansion":
            yield _expansion(text, quoted=False)
        case "command_substitution":
            yield Substitution(_substituted(node, text, inner), quoted=False)
        case "process_substitution":
            yield Process(inner(node), text[0])
        case "arithmetic_expansion":
            yield _arithmetic(text)
        case "word" | "number" | "variable_name" | "test_operator" | "brace_expression" | "extglob_pattern":
            yield from _bare(text)
        case _ if not node.is_named:
            yield from _bare(text)
        case kind:
            raise Refused(f"{text!r} uses a form ({kind.replace('_', ' ')}) that is not supported; write it out")


def _quoted(text: str) -> Iterator[Atom]:
    return ((character, True) for character in text)


def _bare(text: str) -> Iterator[Atom]:
    position = 0
    while position < len(text):
        character = text[position]
        if character == "\\":
            if position + 1 >= len(text):
                raise Refused("the command ends in a backslash that escapes nothing")
            if text[position + 1] != "\n":
                yield text[position + 1], True
            position += 2
            continue
        if _EXPANDS.match(text, position) or character in "\"'()<>;&| \t\n":
            raise Refused(f"the word {text!r} cannot be read without doubt; put it in single quotes")
        yield character, False
        position += 1


def _string(node: Node, text: str, inner: Inner) -> Iterator[Atom]:
    if not text.startswith('"'):
        raise Refused('$"…" is translated when it runs; use plain quotes')
    source, start = (node.text or b""), node.start_byte
    position = 1
    for child in node.named_children:
        if child.type == "string_content":
            continue  # Read from the text between the others: the parser leaves some spaces out of it.
        shown = text_of(child).lstrip(" \t\n")  # The parser counts spaces before a variable as part of it.
        position, before = child.end_byte - start, source[position : child.end_byte - start - len(shown.encode())]
        yield from _segment(before.decode())
        match child.type:
            case "simple_expansion":
                yield _variable(shown[1:], quoted=True)
            case "expansion":
                yield _expansion(shown, quoted=True)
            case "command_substitution":
                yield Substitution(_substituted(child, shown, inner), quoted=True)
            case "arithmetic_expansion":
                yield _arithmetic(shown)
            case kind:
                raise Refused(f"{shown!r} uses a form ({kind.replace('_', ' ')}) that is not supported; write it out")
    yield from _segment(source[position:-1].decode())
    yield "", True  # So that "" is a word, though an empty one.


def _segment(text: str) -> Iterator[Atom]:
    position = 0
    while position < len(text):
        character = text[position]
        if character == "\\" and position + 1 < len(text) and text[position + 1] in '$`"\\\n':
            if text[position + 1] != "\n":
                yield text[position + 1], True
            position += 2
            continue
        if _EXPANDS.match(text, position) and text[position : position + 2] not in ("$'", '$"'):
            raise Refused(f"the text {text!r} cannot be read without doubt; put it in single quotes")
        yield character, True
        position += 1


def _ansi(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        body = match[1]
        if body[0] in "xuU" and len(body) > 1:
            code = int(body[1:], 16)
        elif body[0] in "01234567":
            code = int(body, 8)
        elif body[0] == "c":
            raise Refused("a control character in $'…' is not supported")
        elif body in "\\'\"?":
            return body
        elif body in _ESCAPES:
            return _ESCAPES[body]
        else:
            return "\\" + body
        if code == 0 or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF or (code > 127 and body[0] not in "uU"):
            raise Refused("$'…' contains a character that text cannot hold")
        return chr(code)

    return _ANSI.sub(character, text)


def _variable(name: str, *, quoted: bool, length: bool = False) -> Part:
    if name in _NUMERIC:
        return Variable(name, quoted)
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name == "_":
        raise Refused(f"${name} is not known before the command runs; write the value out")
    return Variable(name, quoted, length)


def _expansion(text: str, *, quoted: bool) -> Part:
    plain = re.fullmatch(r"\$\{(#?)([A-Za-z_][A-Za-z0-9_]*|[?#$!])\}", text)
    if not plain:
        raise Refused(f"{text} computes a value while the command runs; use a plain variable, or write the value out")
    return _variable(plain[2], quoted=quoted, length=bool(plain[1]))


def _substituted(node: Node, text: str, inner: Inner) -> Script:
    if text.startswith("`") and "\\" in text:
        raise Refused("backslashes inside backticks are read twice; use $(…)")
    return inner(node)


def _arithmetic(text: str) -> Arithmetic:
    body = text[3:-2] if text.startswith("$((") and text.endswith("))") else None
    if body is None or not _ARITHMETIC.fullmatch(body):
        raise Refused(f"the arithmetic {text!r} is more than numbers, names and operators; simplify it")
    names = [each for each in re.findall(r"[A-Za-z0-9_]+", body) if not each[0].isdigit()]
    return Arithmetic(body, tuple(names))


def _expanded_braces(atoms: list[Atom]) -> list[list[Atom]]:
    for opening in range(len(atoms)):
        if atoms[opening] != ("{", False):
            continue
        found = _alternatives(atoms, opening)
        if found is None:
            continue
        choices, closing = found
        tails = _expanded_braces(atoms[closing + 1 :])
        middles = [middle for choice in choices for middle in _expanded_braces(choice)]
        if len(tails) * len(middles) > _MOST_WORDS:
            raise Refused(f"the braces stand for more than {_MOST_WORDS} words")
        return [[*atoms[:opening], *middle, *tail] for middle in middles for tail in tails]
    return [atoms]


def _alternatives(atoms: list[Atom], opening: int) -> tuple[list[list[Atom]], int] | None:
    depth, choices, current = 0, [], list[Atom]()
    for position in range(opening + 1, len(atoms)):
        atom = atoms[position]
        if atom == ("{", False):
            depth += 1
        elif atom == ("}", False) and depth == 0:
            choices.append(current)
            if len(choices) > 1:
                return choices, position
            return _sequence(current, position)
        elif atom == ("}", False):
            depth -= 1
        elif atom == (",", False) and depth == 0:
            choices.append(current)
            current = []
            continue
        current.append(atom)
    return None


def _sequence(atoms: list[Atom], closing: int) -> tuple[list[list[Atom]], int] | None:
    if not all(isinstance(atom, tuple) for atom in atoms):
        return None
    ends = _SEQUENCE.fullmatch("".join(atom[0] for atom in atoms if isinstance(atom, tuple)))
    if ends is None or ends[1].isalpha() != ends[2].isalpha():
        return None
    if ends[3] is not None or any(re.match(r"-?0\d", end) for end in (ends[1], ends[2])):
        raise Refused("a sequence in braces with steps or leading zeros is not supported; write the values out")
    read: Callable[[str], int] = ord if ends[1].isalpha() else int
    first, last = read(ends[1]), read(ends[2])
    if abs(first - last) > _MOST_WORDS:
        raise Refused(f"the braces stand for more than {_MOST_WORDS} words")
    numbers = range(first, last + 1) if first <= last else range(first, last - 1, -1)
    texts = [chr(each) if ends[1].isalpha() else str(each) for each in numbers]
    return [[(character, True) for character in text] for text in texts], closing


def _parts(atoms: list[Atom]) -> Iterable[Part]:
    if ("$", False) in atoms[:-1]:
        raise Refused("a `$` stands where the shell would take it for the beginning of a value; quote it")
    if atoms and atoms[0] == ("~", False):
        raise Refused("~ leads out of the workspace; use a path relative to it")
    parts: list[Part] = []
    position = 0
    while position < len(atoms):
        atom = atoms[position]
        position += 1
        if not isinstance(atom, tuple):
            parts.append(atom)
        elif atom in (("*", False), ("?", False)):
            parts.append(Pattern(atom[0]))
        elif atom == ("[", False) and (closing := _closing_bracket(atoms, position)):
            body = "".join(each[0] for each in atoms[position:closing] if isinstance(each, tuple))
            parts.append(Pattern(f"[{body}]"))
            position = closing + 1
        elif parts and isinstance(parts[-1], Literal):
            parts[-1] = Literal(parts[-1].text + atom[0])
        else:
            parts.append(Literal(atom[0]))
    return parts


def _closing_bracket(atoms: list[Atom], start: int) -> int | None:
    """Where an unquoted `[` ends; None when nothing closes it, which makes it an ordinary character."""
    for position in range(start + 1, len(atoms)):
        if atoms[position] != ("]", False):
            continue
        body = atoms[start:position]
        text = "".join(atom[0] for atom in body if isinstance(atom, tuple) and not atom[1])
        if len(text) != len(body) or not _BRACKET.fullmatch(text):
            raise Refused("a pattern in [brackets] may hold letters, digits, dots and ranges only")
        return position
    return None
