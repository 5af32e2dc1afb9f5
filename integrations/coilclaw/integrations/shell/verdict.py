"""The verdict about a command: how risky it is, or why it is not run at all.

Forbidden at every autonomy level is what must never happen (a forbidden program, a path outside the
workspace, one of the well-known ways to destroy a machine) and what cannot be judged (text that is not
plainly a command, a program whose name is only known once the command runs).

A program that the operator did not allow is forbidden, or destructive in `full`. So is what stays in doubt:
code for an interpreter (`python -c`), programs that start others in ways of their own (make, git, tar, ssh),
arguments that are only known once the command runs. That holds although the program itself may be allowed,
because allowing a program does not say what it may be made to do.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from pathlib import Path

from coilclaw.integrations.shell.arguments import Arguments
from coilclaw.integrations.shell.parsing import parsed
from coilclaw.integrations.shell.places import Places
from coilclaw.integrations.shell.programs import (
    ALWAYS_FORBIDDEN,
    DATA_ONLY,
    DOWNLOADERS,
    INTERPRETERS,
    LANGUAGE,
    LAUNCHERS,
    PREFIXES,
    REFUSED_BUILTINS,
    SHELLS,
    Prefix,
    bare_name,
    is_harmless_variable,
    is_safe_awk,
    is_special_variable,
)
from coilclaw.integrations.shell.script import (
    Arithmetic,
    Chain,
    For,
    Group,
    If,
    Loop,
    Negated,
    Pipeline,
    Process,
    Redirect,
    Redirected,
    Refused,
    Script,
    Simple,
    Statement,
    Substitution,
    Word,
)
from coilclaw.integrations.shell.survey import surveyed
from coilclaw.integrations.shell.values import Field, Variables
from coilclaw.sdk import Bounds, Forbid, Risk

__all__ = ["verdict"]

_SYSTEM_FOLDERS = ("/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/")
_DESTROYERS = ("rm", "dd", "chmod", "chown", "chgrp")
_DEEPEST = 6


def verdict(command: str, folder: Path, workspace: Path, bounds: Bounds) -> Risk | Forbid:
    """How this command, started in this folder of the workspace, is to be treated."""
    try:
        judge = _Judge.of(parsed(command), folder, workspace, bounds)
        judge.run()
    except Refused as reason:
        return Forbid(reason=str(reason))
    except RecursionError:
        return Forbid(reason="the command is nested too deeply; split it into several calls")
    if not judge.doubts:
        return Risk.WRITE
    if bounds.autonomy == "full":
        return Risk.DESTRUCTIVE
    return Forbid(reason=judge.doubts[0])


@dataclass
class _Judge:
    script: Script
    places: Places
    bounds: Bounds
    variables: Variables
    depth: int = 0
    doubts: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, script: Script, folder: Path, workspace: Path, bounds: Bounds, depth: int = 0) -> _Judge:
        real, start = workspace.resolve(), folder.resolve()
        forbidden = tuple(dict.fromkeys(each for path in bounds.forbidden_paths for each in (path, path.resolve())))
        given = {"HOME": str(real), "PWD": str(start)}
        variables, moves = surveyed(script, given)
        starts = [start]
        if moves is not None:
            Places(real, (start,), forbidden).check(Field(moves))
            starts.append(start / moves)
            given.pop("PWD")
        return cls(script, Places(real, tuple(starts), forbidden), bounds, variables, depth)

    def run(self) -> None:
        self._script(self.script)

    def _script(self, script: Script) -> None:
        for number, statement in enumerate(script.statements):
            if number in script.background:
                self._apart(statement)
            else:
                self._statement(statement)

    def _apart(self, what: Statement | Script) -> None:
        """Judge a part that may not run, or runs in a shell of its own: what it assigns is not certain afterwards."""
        certain = set(self.variables.certain)
        if isinstance(what, Script):
            self._script(what)
        else:
            self._statement(what)
        self.variables.certain = certain

    def _statement(self, statement: Statement) -> None:
        match statement:
            case Simple():
                self._simple(statement)
            case Pipeline(stages, _):
                self._pipeline(stages)
            case Chain(left, _, right):
                self._statement(left)
                self._apart(right)
            case Negated(body):
                self._statement(body)
            case Group(script, subshell):
                self._apart(script) if subshell else self._script(script)
            case Loop(_, condition, body):
                self._script(condition)
                self._apart(body)
            case For(name, words, body):
                for word in words:
                    self._word(word)
                certain = set(self.variables.certain)
                self.variables.certain.add(name)
                self._apart(body)
                self.variables.certain = certain
            case If(branches, otherwise):
                self._script(branches[0][0])
                for condition, body in branches:
                    self._apart(condition)
                    self._apart(body)
                if otherwise is not None:
                    self._apart(otherwise)
            case Redirected(body, redirects):
                self._statement(body)
                self._redirects(redirects)

    def _pipeline(self, stages: tuple[Statement, ...]) -> None:
        names = [_first_name(stage) for stage in stages]
        for number, name in enumerate(names[1:], start=1):
            if (name in SHELLS or INTERPRETERS.fullmatch(name)) and DOWNLOADERS & set(names[:number]):
                raise Refused(f"what is downloaded would be run by {name} unseen; save it to a file and read it first")
        for stage in stages:
            self._apart(stage)

    def _simple(self, command: Simple) -> None:
        for assignment in command.assignments:
            self._word(assignment.value)
            if _first_name(command) == "read" and assignment.name == "IFS" and not assignment.value.parts:
                continue  # `IFS= read -r line`, which keeps the spaces of a line.
            if is_special_variable(assignment.name):
                raise Refused(f"{assignment.name} changes how commands are found or run; do not assign it")
            if not command.words and not command.exported:
                continue
            if not is_harmless_variable(assignment.name):
                self.doubts.append(f"the variable {assignment.name} may change what the program does; leave it out")
            for each in itertools.chain.from_iterable(self.variables.choices([assignment.value])):
                self.places.check_argument(each)
                if not each.known:
                    self.doubts.append(f"the value of {assignment.name} is only known when the command runs")
        self._redirects(command.redirects)
        for word in command.words:
            self._word(word)
        if not command.words:
            self.variables.certain.update(each.name for each in command.assignments)
            return
        if not command.words[0].literal:
            raise Refused("the name of the program is only known when the command runs; write it out")
        for fields in self.variables.choices(command.words):
            self._command(fields)

    def _redirects(self, redirects: tuple[Redirect, ...]) -> None:
        for redirect in redirects:
            if redirect.target is None:
                continue
            self._word(redirect.target)
            if redirect.operator == "<<<":
                continue
            for fields in self.variables.choices([redirect.target]):
                if len(fields) != 1 or not fields[0].fixed or not fields[0].text:
                    raise Refused("the target of a redirection is only known when the command runs; write it out")
                self.places.check(fields[0])

    def _word(self, word: Word) -> None:
        for part in word.parts:
            if isinstance(part, Substitution | Process):
                self._apart(part.script)
            elif isinstance(part, Arithmetic):
                self.variables.check_arithmetic(part)

    def _command(self, fields: list[Field]) -> None:
        """Judge one program with its arguments, however it would be started."""
        if not fields or not fields[0].fixed or not fields[0].text:
            raise Refused("the name of the program is only known when the command runs; write it out")
        program, arguments = fields[0].text, fields[1:]
        name = bare_name(program)
        self._check_name(program, name)
        self._check_destruction(name, arguments)
        if reason := REFUSED_BUILTINS.get(name):
            raise Refused(f"`{name}` {reason}")
        if name in PREFIXES:
            self._prefix(name, PREFIXES[name], arguments)
        elif name in SHELLS:
            self._shell(name, arguments)
            return
        listed = program in self.bounds.shell_allow or ("/" in program and self._is_listed_by_path(program, name))
        if name in LANGUAGE and "/" not in program:
            self._language(name, arguments)
        elif not listed:
            allowed = ", ".join(self.bounds.shell_allow) or "none"
            self.doubts.append(f"the program {program!r} is not on the allowlist (shell_allow: {allowed})")
            self._check_started(name, arguments)
        if name in PREFIXES:
            return
        unsafe_awk = name == "awk" and not all(is_safe_awk(each.text) for each in arguments)
        if unsafe_awk or name in LAUNCHERS - {"sed", "awk"} or INTERPRETERS.fullmatch(name):
            self._launcher(name, arguments)
        if name not in DATA_ONLY and name not in ("test", "[") and not all(each.known for each in arguments):
            self.doubts.append(f"an argument of `{name}` is only known when the command runs; write it out")
        Arguments(self.places, self._command, self.doubts.append).check(name, arguments)

    def _check_started(self, name: str, arguments: list[Field]) -> None:
        """A program that is not known may be one that starts what its arguments name."""
        for each in arguments:
            if each.text.startswith(_SYSTEM_FOLDERS) or "/" not in each.text:
                self._check_forbidden(bare_name(each.text))

    def _check_forbidden(self, name: str) -> None:
        forbidden = [each.casefold() for each in (*self.bounds.forbidden_commands, *ALWAYS_FORBIDDEN)]
        for each in (name, name.split(".", 1)[0]):
            if each in forbidden:
                raise Refused(f"the program `{each}` is forbidden; find another way or ask a person")

    def _check_name(self, program: str, name: str) -> None:
        self._check_forbidden(name)
        if "/" in program and not program.startswith(_SYSTEM_FOLDERS):
            self.places.check(Field(program))
        elif "/" in program:
            self.places.check_text(program)

    def _is_listed_by_path(self, program: str, name: str) -> bool:
        return name in self.bounds.shell_allow and any(program == folder + name for folder in _SYSTEM_FOLDERS)

    def _check_destruction(self, name: str, arguments: list[Field]) -> None:
        """The patterns that are blocked whatever the operator allows."""
        if name not in _DESTROYERS:
            return
        if not all(each.known for each in arguments):
            raise Refused(f"the arguments of `{name}` must be known before it runs; write them out")
        texts = [each.text for each in arguments]
        short = "".join(text[1:] for text in texts if re.match(r"-[A-Za-z]", text))
        recursive = "R" in short or any(len(text) > 2 and "--recursive".startswith(text) for text in texts)
        if name == "dd" and any(text.startswith(("if=", "of=")) for text in texts):
            raise Refused("`dd if=` copies raw devices; use cp")
        if name in ("chown", "chgrp") and recursive:
            raise Refused(f"`{name} -R` is forbidden; a person changes owners")
        if name == "chmod" and recursive and any(re.fullmatch(r"0*777|(?:a|ugo)?[+=]rwx", text) for text in texts):
            raise Refused("`chmod -R 777` is forbidden; give only the permissions that are needed")
        everything = [
            text for text in texts if re.fullmatch(r"(?:\./)*(?:\*|\.|\./|\.\*)|/+\*?", text) or text.endswith("/*")
        ]
        if name == "rm" and (recursive or "r" in short) and everything:
            raise Refused(f"`rm -r {everything[0]}` would remove everything; name the files")

    def _prefix(self, name: str, prefix: Prefix, arguments: list[Field]) -> None:
        position, leading, ended = 0, prefix.leading, False
        while position < len(arguments):
            each = arguments[position]
            text = each.text
            if not each.fixed:
                raise Refused(f"the program that `{name}` would start is only known when it runs; write it out")
            if prefix.assignments and re.match(r"[A-Za-z_]\w*=", text):
                variable = text.partition("=")[0]
                if is_special_variable(variable):
                    raise Refused(f"{variable} changes how commands are found or run; do not assign it")
                if not is_harmless_variable(variable):
                    self.doubts.append(f"the variable {variable} may change what the program does; leave it out")
            elif text == "--" and not ended:
                ended = True
            elif text.startswith("-") and not ended:
                if _is_refused(prefix, text):
                    raise Refused(f"`{name} {text}` cannot be checked; write the command out")
                if prefix.feeds and re.match(r"-[A-Za-z0-9]*[iI]|--r", text):
                    raise Refused(f"`{name} {text}` puts its input anywhere into the command; leave it out")
                if self._takes_next(prefix, text):
                    position += 1
            elif leading:
                leading -= 1
            else:
                break
            position += 1
        inner = arguments[position:]
        for each in arguments[:position]:
            self.places.check_argument(each, recursive=False)
        if prefix.feeds and inner:
            inner = [*inner, Field("", known=False)]
        if inner:
            self._command(inner)
        elif name == "exec":
            raise Refused("`exec` without a program changes the shell itself; redirect single commands")

    @staticmethod
    def _takes_next(prefix: Prefix, text: str) -> bool:
        if text.startswith("--"):
            return "=" not in text and any(len(text) > 3 and each.startswith(text) for each in prefix.long_values)
        letters = text[1:]
        for number, letter in enumerate(letters):
            if letter in prefix.values:
                return number == len(letters) - 1
        return False

    def _shell(self, name: str, arguments: list[Field]) -> None:
        operands = [each for each in arguments if not re.match(r"[-+].", each.text)]
        options = [each.text for each in arguments if re.match(r"[-+].", each.text)]
        if not all(each.fixed for each in arguments) or self.depth > _DEEPEST:
            raise Refused(f"what `{name}` would run is only known when it runs; write the commands out")
        if any(re.match(r"-[a-z]*(?:rcfile|init-file|i|s)", each) for each in options) or not operands:
            raise Refused(f"`{name}` would run whatever it is given to read; write the commands out")
        if any(each.startswith("/dev") or each == "-" for each in (field.text for field in operands)):
            raise Refused(f"`{name}` would run whatever it is given to read; write the commands out")
        if any(re.fullmatch(r"-[A-Za-z]*c[A-Za-z]*", each) for each in options):
            for operand in operands[: 1 + sum("o" in each or "O" in each for each in options)]:
                start = self.places.starts[0]
                inner = _Judge.of(parsed(operand.text), start, self.places.workspace, self.bounds, self.depth + 1)
                inner.run()
                self.doubts.extend(inner.doubts)
            self.doubts.append(f"`{name} -c` reads its text again; write the commands out")
            return
        self.doubts.append(f"`{name}` would run a file that is not checked; write its commands out")
        for each in arguments:
            self.places.check_argument(each)

    def _launcher(self, name: str, arguments: list[Field]) -> None:
        for each in arguments:
            for token in re.findall(r"[A-Za-z0-9_.+\-]+", each.text):
                self._check_forbidden(bare_name(token))
            if name not in LAUNCHERS and each.text.startswith("/dev/"):
                raise Refused(f"`{name}` would run whatever it is given to read; name a file of the workspace")
        simple = arguments and arguments[0].fixed and not arguments[0].text.startswith("-")
        if name in LAUNCHERS or not simple:
            self.doubts.append(f"`{name}` can start other programs in ways that are not checked here")

    def _language(self, name: str, arguments: list[Field]) -> None:
        texts = [each.text for each in arguments]
        if name in ("exit", "break", "continue", "wait") and not all(text.isdigit() for text in texts):
            raise Refused(f"`{name}` takes nothing but a number here")
        if name == "set" and not all(re.fullmatch(r"[-+][eux]+o?|[-+]o|pipefail", text) for text in texts):
            raise Refused("`set` may only be used with -e, -u, -x and -o pipefail")


def _is_refused(prefix: Prefix, text: str) -> bool:
    if text.startswith("--"):
        return any(each.startswith(text.partition("=")[0]) for each in prefix.refused)
    return any(each[1] in text for each in prefix.refused if not each.startswith("--"))


def _first_name(statement: Statement) -> str:
    """The name of the program that a stage of a pipeline is mostly about, or nothing."""
    while isinstance(statement, Redirected | Negated):
        statement = statement.body
    if isinstance(statement, Group) and statement.script.statements:
        return _first_name(statement.script.statements[-1])
    if not isinstance(statement, Simple):
        return ""
    names = [bare_name(word.literal or "") for word in statement.words]
    for name in names:
        if name and name not in PREFIXES and name not in ("sudo", "doas") and not name.startswith("-"):
            return name
    return ""
