"""From the text of a command to a `Script`, or a refusal.

The grammar is tree-sitter's for bash. Only forms listed here are taken over; anything else, and any text
that the parser had to skip or to guess, is refused.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from typing import TYPE_CHECKING

from coilclaw.integrations.shell.script import (
    Assignment,
    Chain,
    For,
    Group,
    If,
    Literal,
    Loop,
    Negated,
    Pipeline,
    Redirect,
    Redirected,
    Refused,
    Script,
    Simple,
    Statement,
    Word,
)
from coilclaw.integrations.shell.words import single_word, text_of, words_of

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser

__all__ = ["parsed"]

_LONGEST_COMMAND = 32_768
_DEEPEST = 60
_GAP = re.compile(rb"(?:(?:\\\n)*[ \t\n](?:[ \t\n]|\\\n)*)?")
"""Space, with lines continued in it. A line continued without space joins two words, which the parser does not do."""

_GAP_IN_LINE = re.compile(rb"(?:(?:\\\n)*[ \t](?:[ \t]|\\\n)*)?")
_ON_ONE_LINE = frozenset({
    "command", "redirected_statement", "negated_command", "variable_assignments", "file_redirect",
    "herestring_redirect", "test_command", "declaration_command", "variable_assignment", "unary_expression",
    "binary_expression",
})  # fmt: skip
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_UNCLEAR = {"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"}
_TERMINATORS = (";", "&", "\n")
_SIDEWAYS = (">", ">>", "<", ">|", "&>", "&>>")
_STATEMENTS = (
    "command", "pipeline", "list", "redirected_statement", "subshell", "compound_statement", "for_statement",
    "while_statement", "if_statement", "negated_command", "variable_assignment", "variable_assignments", "test_command",
    "declaration_command",
)  # fmt: skip
_GRAMMAR = frozenset({
    "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "for", "case", "esac", "in", "select", "{", "}",
    "!", "[[", "]]",
})  # fmt: skip
_OTHER_FORMS = {
    "function_definition": "a function gives commands another name; write the commands out",
    "case_statement": "`case` is not supported; use `if [ … ]`",
    "c_style_for_statement": "`for ((…))` is not supported; use `for name in words`",
    "unset_command": "`unset` is not supported; use another variable",
}


def parsed(command: str) -> Script:
    """What this text says, if it says it without doubt."""
    if len(command) > _LONGEST_COMMAND:
        raise Refused(f"the command is longer than {_LONGEST_COMMAND} characters; put the data into a file")
    for character in command:
        if character not in "\n\t" and _is_unclear(character):
            raise Refused(f"the command contains the invisible character U+{ord(character):04X}; leave it out")
    root = _parser().parse(command.encode()).root_node
    if root.has_error:
        raise Refused("the command is not valid shell syntax, or uses a form that cannot be checked; simplify it")
    _check_depth(root)
    script = _script(root, _children(root))
    if not script.statements:
        raise Refused("there is no command to run")
    return script


def _is_unclear(character: str) -> bool:
    kind = unicodedata.category(character)
    return kind in _UNCLEAR or (kind == "Zs" and character != " ")


@functools.cache
def _language() -> Language:
    import tree_sitter_bash
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())


def _parser() -> Parser:
    """One for each command: calls come from several threads."""
    from tree_sitter import Parser

    return Parser(_language())


def _check_depth(root: Node) -> None:
    level = [root]
    for _ in range(_DEEPEST * 3):
        level = [child for node in level for child in node.children]
        if not level:
            return
    raise Refused("the command is nested too deeply; split it into several calls")


def _children(node: Node) -> list[Node]:
    """The children, without comments; what lies between them must be nothing but space."""
    source, start = node.text or b"", node.start_byte
    position = node.start_byte
    gap = _GAP_IN_LINE if node.type in _ON_ONE_LINE else _GAP
    for child in node.children:
        comment = child.type == "comment" and node.type in _ON_ONE_LINE
        if child.is_missing or comment or not gap.fullmatch(source[position - start : child.start_byte - start]):
            raise Refused(f"the parser is not sure about {text_of(node)!r}; use simpler quotes")
        position = child.end_byte
    if not _GAP.fullmatch(source[position - start :]) and node.children:
        raise Refused(f"the parser is not sure about {text_of(node)!r}; use simpler quotes")
    return [child for child in node.children if child.type != "comment"]


def _check_apart(nodes: list[Node]) -> None:
    """Refuse words that touch: to the shell they are one, and the parser did not see that."""
    for before, after in itertools.pairwise(nodes):
        if before.end_byte == after.start_byte and not {before.type, after.type} & {";", "\n"}:
            raise Refused(f"the words {text_of(before)!r} and {text_of(after)!r} touch; use simpler quotes")


def _script(node: Node, children: list[Node]) -> Script:
    statements: list[Statement] = []
    background: set[int] = set()
    for child in children:
        if child.type == "&":
            if not statements:
                raise Refused("`&` follows no command")
            background.add(len(statements) - 1)
        elif child.type not in _TERMINATORS:
            statements.append(_statement(child))
    return Script(tuple(statements), frozenset(background))


def _inner(node: Node) -> Script:
    """The script inside `$(…)`, backticks, `<(…)` or `>(…)`."""
    children = _children(node)
    return _script(node, children[1:-1])


def _statement(node: Node) -> Statement:
    match node.type:
        case "command":
            return _command(node)
        case "pipeline":
            children = _children(node)
            joins = [child for child in children if not child.is_named]
            stages = tuple(_statement(child) for child in children if child.is_named)
            if any(join.type not in ("|", "|&") for join in joins) or len(joins) + 1 != len(stages):
                raise Refused(f"the pipeline {text_of(node)!r} cannot be read without doubt")
            return Pipeline(stages, tuple(join.type for join in joins))
        case "list":
            left, operator, right = _exactly(node, 3)
            if operator.type not in ("&&", "||"):
                raise Refused(f"{operator.type!r} cannot join commands here")
            return Chain(_statement(left), operator.type, _statement(right))
        case "negated_command":
            return Negated(_statement(_exactly(node, 2)[1]))
        case "redirected_statement":
            return _redirected(node)
        case "subshell" | "compound_statement":
            children = _children(node)
            if (children[0].type, children[-1].type) not in (("(", ")"), ("{", "}")):
                raise Refused("`((…))` is not supported; use `$((…))` as a value, or `[ … ]` as a condition")
            if children[0].type == "{" and children[0].end_byte == children[1].start_byte:
                raise Refused("a group needs a space after `{`")
            return Group(_script(node, children[1:-1]), subshell=node.type == "subshell")
        case "for_statement":
            return _for(node)
        case "while_statement":
            keyword, *condition, body = _children(node)
            return Loop(keyword.type, _script(node, condition), _do_group(body))
        case "if_statement":
            return _if(node)
        case "variable_assignment":
            return Simple((_assignment(node),), ())
        case "variable_assignments":
            return Simple(tuple(_assignment(child) for child in _children(node)), ())
        case "declaration_command":
            keyword, *rest = _children(node)
            if keyword.type != "export" or any(child.type != "variable_assignment" for child in rest):
                raise Refused(f"`{text_of(keyword)}` is not supported; assign plain variables")
            return Simple(tuple(_assignment(child) for child in rest), (), exported=True)
        case "test_command":
            return Simple((), tuple(_test(node)))
        case kind:
            raise Refused(_OTHER_FORMS.get(kind, f"{text_of(node)!r} is a form that cannot be checked; simplify it"))


def _exactly(node: Node, count: int) -> list[Node]:
    children = _children(node)
    if len(children) != count:
        raise Refused(f"{text_of(node)!r} cannot be read without doubt")
    return children


def _command(node: Node) -> Simple:
    assignments: list[Assignment] = []
    words: list[Word] = []
    redirects: list[Redirect] = []
    children = _children(node)
    _check_apart([child for child in children if not child.type.endswith("_redirect")])
    for child in children:
        if child.type == "variable_assignment":
            assignments.append(_assignment(child))
        elif child.type == "command_name":
            if text_of(child) in _GRAMMAR:
                raise Refused(f"`{text_of(child)}` is a word of the shell's grammar and stands where a program should")
            words.extend(words_of(_exactly(child, 1)[0], _inner))
        elif child.type in ("file_redirect", "herestring_redirect"):
            redirects.append(_redirect(child))
        else:
            words.extend(words_of(child, _inner))
    return Simple(tuple(assignments), tuple(words), tuple(redirects))


def _assignment(node: Node) -> Assignment:
    children = _children(node)
    name = text_of(children[0])
    if not _NAME.fullmatch(name) or children[1].type != "=" or len(children) > 3:
        raise Refused(f"{text_of(node)!r} is more than `name=value`; use plain variables")
    return Assignment(name, single_word(children[2], _inner) if len(children) == 3 else Word(()))


def _redirected(node: Node) -> Statement:
    children = _children(node)
    body: Statement = Simple((), ())
    if children[0].type in _STATEMENTS:
        body = _statement(children.pop(0))
    redirects: list[Redirect] = []
    for child in children:
        if child.type == "heredoc_redirect":
            return _with_document(child, body, redirects, last=child == children[-1])
        redirects.append(_redirect(child))
    return Redirected(body, tuple(redirects))


def _with_document(node: Node, body: Statement, redirects: list[Redirect], *, last: bool) -> Statement:
    """`<<'END'` as the here-string that gives the same input."""
    kinds = [child.type for child in _children(node)]
    if not last or kinds not in (
        ["<<", "heredoc_start", "heredoc_body", "heredoc_end"],
        ["<<", "heredoc_start", "file_redirect", "heredoc_body", "heredoc_end"],
        ["<<", "heredoc_start", "pipeline", "heredoc_body", "heredoc_end"],
    ):
        raise Refused("this here-document is not simple enough; write `command <<'END'`, its lines, and `END`")
    _, start, *between, _, end = _children(node)
    # Taken from the text itself: the parser leaves spaces at the beginning out of the body.
    whole, ahead = node.text or b"", (between or [start])[-1].end_byte - node.start_byte
    text = whole[whole.index(b"\n", ahead) + 1 : end.start_byte - node.start_byte].decode()
    delimiter = text_of(start)
    if not text.endswith("\n") or text_of(end) != delimiter.strip("'\""):
        raise Refused("the end of the here-document is not clear; put its delimiter on a line of its own")
    if not re.fullmatch(r"'[^']*'|\"[^\"$`\\]*\"|\w+", delimiter):
        raise Refused("the delimiter of the here-document is not simple; write <<'END'")
    if delimiter[0] not in "'\"" and re.search(r"[$`\\]", text):
        raise Refused("the here-document expands variables or commands; quote its delimiter: <<'END'")
    document = Redirect("", "<<<", Word((Literal(text.removesuffix("\n")),)))
    if between and between[0].type == "file_redirect":
        redirects = [*redirects, _redirect(between[0])]
    fed = Redirected(body, (*redirects, document))
    if not between or between[0].type == "file_redirect":
        return fed
    stages = [child for child in _children(between[0]) if child.is_named]
    joins = tuple(child.type for child in _children(between[0]) if not child.is_named)
    if len(joins) != len(stages) or set(joins) - {"|", "|&"}:
        raise Refused("the commands behind this here-document are not simple enough; split the call")
    return Pipeline((fed, *map(_statement, stages)), joins)


def _redirect(node: Node) -> Redirect:
    children = _children(node)
    descriptor = ""
    if children[0].type == "file_descriptor":
        descriptor = text_of(children.pop(0))
    operator, *target = children
    if not re.fullmatch(r"[0-9]?", descriptor):
        raise Refused("a redirection may name the descriptors 0 to 9 only")
    if operator.type in (">&-", "<&-"):
        return Redirect(descriptor, operator.type, None)
    if len(target) != 1:
        raise Refused(f"the redirection {text_of(node)!r} needs exactly one target")
    if operator.type in (">&", "<&"):
        copied = text_of(target[0])
        if not re.fullmatch(r"[0-9]", copied):
            raise Refused(f"{text_of(node)!r} may name a descriptor only; to write both streams to a file use &>")
        return Redirect(descriptor, operator.type, None, copied)
    if operator.type == "<<<":
        return Redirect(descriptor, "<<<", single_word(target[0], _inner))
    words = words_of(target[0], _inner)
    if operator.type not in _SIDEWAYS or len(words) != 1:
        raise Refused(f"the redirection {text_of(node)!r} is not supported; use >, >>, < or 2>&1")
    return Redirect(descriptor, operator.type, words[0])


def _for(node: Node) -> For:
    children = _children(node)
    if [child.type for child in children[:3]] != ["for", "variable_name", "in"]:
        raise Refused("only `for name in words` is supported")
    _check_apart(children[:-1])
    words = [word for child in children[3:-1] if child.type not in _TERMINATORS for word in words_of(child, _inner)]
    return For(text_of(children[1]), tuple(words), _do_group(children[-1]))


def _do_group(node: Node) -> Script:
    children = _children(node)
    if node.type != "do_group" or (children[0].type, children[-1].type) != ("do", "done"):
        raise Refused("a loop needs `do …; done`")
    return _script(node, children[1:-1])


def _if(node: Node) -> If:
    branches: list[tuple[Script, Script]] = []
    otherwise: Script | None = None
    children = _children(node)
    if children[-1].type != "fi":
        raise Refused("`if` needs `fi`")
    main = [child for child in children[1:-1] if child.type not in ("elif_clause", "else_clause")]
    branches.append(_branch(node, main))
    for child in children:
        if child.type == "elif_clause":
            branches.append(_branch(child, _children(child)[1:]))
        elif child.type == "else_clause":
            otherwise = _script(child, _children(child)[1:])
    return If(tuple(branches), otherwise)


def _branch(node: Node, children: list[Node]) -> tuple[Script, Script]:
    kinds = [child.type for child in children]
    if kinds.count("then") != 1:
        raise Refused("`if` needs `then`")
    middle = kinds.index("then")
    return _script(node, children[:middle]), _script(node, children[middle + 1 :])


def _test(node: Node) -> list[Word]:
    children = _children(node)
    if (children[0].type, children[-1].type) != ("[", "]"):
        raise Refused("`[[ … ]]` and `((…))` evaluate their words; use `[ … ]`")
    found: list[Node] = []
    pending = children[1:-1]
    while pending:
        child = pending.pop(0)
        if child.type in ("unary_expression", "binary_expression", "negation_expression"):
            pending = [*_children(child), *pending]
        else:
            found.append(child)
    _check_apart([children[0], *found, children[-1]])
    words = [Word((Literal("["),)), *(word for child in found for word in words_of(child, _inner))]
    return [*words, Word((Literal("]"),))]
