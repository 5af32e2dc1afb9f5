"""Checking the arguments of one program: which are paths, which start something, which are never allowed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from coilclaw.integrations.shell.places import Places
from coilclaw.integrations.shell.programs import (
    FIND_DATA,
    FIND_FLAGS,
    FIND_PATHS,
    OPTIONS,
    Options,
    is_safe_awk,
    is_safe_sed,
)
from coilclaw.integrations.shell.script import Refused
from coilclaw.integrations.shell.values import Field

__all__ = ["Arguments"]

_FILE_TESTS = frozenset(f"-{letter}" for letter in "efdrwxsLhpSbcgukOGN")
_OTHER_TESTS = frozenset({"-z", "-n", "-t", "!", "-a", "-o", "(", ")"})
_COMPARISONS = frozenset({"=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-ef", "-nt", "-ot"})
_OPERATORS = _FILE_TESTS | _OTHER_TESTS | _COMPARISONS
_FILE_COMPARISONS = frozenset({"-ef", "-nt", "-ot"})


@dataclass(frozen=True)
class Arguments:
    """Checks for one command. `start` judges a command that the program would start; `doubt` notes what is not sure."""

    places: Places
    start: Callable[[list[Field]], None]
    doubt: Callable[[str], None]

    def check(self, program: str, arguments: list[Field]) -> None:
        for each in arguments:
            if each.pattern is not None and each.text.startswith("-"):
                raise Refused(f"the option {each.text!r} contains a pattern; quote it")
        if program == "printf" and arguments and not arguments[0].known:
            raise Refused("the format of `printf` is only known when it runs; use printf '%s' \"…\"")
        special = {"find": self._find, "sed": self._sed, "awk": self._awk, "date": self._date}.get(program)
        if program in ("test", "["):
            self._test(arguments)
        elif special is not None:
            special(arguments)
        elif program in OPTIONS:
            self._options(program, OPTIONS[program], arguments)
        else:
            for each in arguments:
                self.places.check_argument(each)

    def _options(self, program: str, options: Options, arguments: list[Field]) -> None:
        operands: list[Field] = []
        recursive = options.recurses == "*"
        stood_in = False
        position, ended = 0, options.data_operands < 0 and not options.refused and not options.values
        while position < len(arguments):
            each = arguments[position]
            position += 1
            text = each.text
            if ended or not text.startswith("-") or text == "-" or each.pattern is not None:
                operands.append(each)
            elif text == "--":
                ended = True
            elif text.startswith("--"):
                name, equals, value = text.partition("=")
                self._check_refused(program, options, name)
                # GNU programs take any unambiguous beginning of a long option.
                recursive = recursive or any(each.startswith(name) for each in ("--recursive", "--directories"))
                stood_in = stood_in or any(each.startswith(name) for each in options.instead_long)
                if name not in options.data_long:
                    if any(starter.startswith(name) for starter in options.starts):
                        self.start([Field(value)] if equals else arguments[position : position + 1])
                    self.places.check_argument(Field(value if equals else ""), recursive=recursive)
                elif not equals and name not in _OPTIONAL_VALUES and position < len(arguments):
                    position += 1
            else:
                for place, letter in enumerate(text[1:], start=1):
                    self._check_refused(program, options, f"-{letter}")
                    recursive = recursive or letter in options.recurses
                    stood_in = stood_in or letter in options.instead
                    if letter in options.values:
                        value = text[place + 1 :]
                        if not value and position < len(arguments):
                            value = arguments[position].text
                            position += 1
                        if letter not in options.data:
                            self.places.check_argument(Field(value), recursive=False)
                        break
        if options.data_operands < 0:
            return
        paths = operands if stood_in else operands[options.data_operands :]
        for operand in paths or [Field(".")] * recursive:
            self.places.check(operand, recursive=recursive)

    def _check_refused(self, program: str, options: Options, name: str) -> None:
        for refused, reason in options.refused.items():
            if name == refused or (name.startswith("--") and len(name) > 2 and refused.startswith(name)):
                raise Refused(f"`{program} {refused}` {reason}")

    def _date(self, arguments: list[Field]) -> None:
        self._options("date", OPTIONS["date"], [each for each in arguments if not each.text.startswith("+")])
        values = ("-d", "-r", "-f", "--date", "--reference", "--file", "--rfc-3339")
        for number, each in enumerate(arguments):
            follows_option = number > 0 and arguments[number - 1].text in values
            if not each.text.startswith(("-", "+")) and not follows_option:
                raise Refused(f"`date {each.text}` would set the clock of the machine; use +format or -d")

    def _test(self, arguments: list[Field]) -> None:
        words = list(arguments)
        if words and words[-1].text == "]":
            words.pop()
        while words and words[0].fixed and words[0].text == "!":
            words.pop(0)
        texts = [each.text if each.fixed else None for each in words]
        for number, each in enumerate(words):
            before = texts[number - 1] if number else None
            after = texts[number + 1] if number + 1 < len(words) else None
            if each.text in ("-v", "-R"):
                raise Refused(f"`[ {each.text} … ]` evaluates its operand; compare the variable with '' instead")
            if each.several:
                raise Refused("a value in `[ … ]` must be in double quotes, or it is read as part of the condition")
            if not each.known:
                operand = before in _OPERATORS or after in _COMPARISONS or len(words) == 1
                if len(words) > 3 or not operand or before in _FILE_TESTS or _FILE_COMPARISONS & {before, after}:
                    self.doubt("a condition in `[ … ]` depends on a value that is not known before it runs")
            elif before in _FILE_TESTS or _FILE_COMPARISONS & {before, after} or each.pattern is not None:
                self.places.check(each)

    def _find(self, arguments: list[Field]) -> None:
        position = 0
        while position < len(arguments) and not _begins_expression(arguments[position].text):
            text = arguments[position].text
            if text in ("-L", "-follow") or text.startswith("-D"):
                raise Refused(f"`find {text}` follows links out of the workspace, or is not needed; leave it out")
            if not text.startswith(("-H", "-P", "-O")):
                self.places.check(arguments[position], recursive=True)
            position += 1
        if not position:
            self.places.check(Field("."), recursive=True)
        while position < len(arguments):
            test = arguments[position].text
            position += 1
            if arguments[position - 1].pattern is not None:
                raise Refused(f"the pattern {test!r} in `find` is replaced before find sees it; quote it")
            if test in FIND_FLAGS:
                continue
            if test in FIND_DATA:
                position += 1
            elif test in FIND_PATHS:
                for value in arguments[position : position + 1]:
                    self.places.check(value)
                position += FIND_PATHS[test]
            elif test == "-delete":
                self.start([Field("rm"), Field("{}")])
            elif test in ("-exec", "-execdir", "-ok", "-okdir"):
                position = self._find_start(arguments, position)
            else:
                raise Refused(f"`find {test}` is not a test that can be checked; use -name, -type, -size and the like")

    def _find_start(self, arguments: list[Field], position: int) -> int:
        end = position
        while end < len(arguments) and arguments[end].text != ";":
            if arguments[end].text == "+" and arguments[end - 1].text == "{}":
                break
            end += 1
        if end >= len(arguments) or end == position:
            raise Refused("`find -exec` needs a command and a `\\;` or `{} +` at its end")
        if "{}" in arguments[position].text:
            raise Refused("`find -exec {}` would start whatever file it finds; name a program")
        self.start(arguments[position:end])
        return end + 1

    def _sed(self, arguments: list[Field]) -> None:
        scripts, operands, position = list[str](), list[Field](), 0
        while position < len(arguments):
            text = arguments[position].text
            position += 1
            if re.fullmatch(r"-[nErsuz]*e", text) or text == "--expression":
                scripts.extend(each.text for each in arguments[position : position + 1])
                position += 1
            elif re.fullmatch(r"-[nErsuz]+|-[nErsuz]*i[.\w]*|--quiet|--silent|--regexp-extended|--in-place", text):
                continue
            elif text.startswith("-") and text != "-":
                self.doubt(f"`sed {text}` is not an option that can be checked")
            else:
                operands.append(arguments[position - 1])
        if not scripts and operands:
            scripts.append(operands.pop(0).text)
        if not all(map(is_safe_sed, scripts)):
            self.doubt("this sed script is more than one substitution, or printing or dropping lines")
        for operand in operands:
            self.places.check(operand)

    def _awk(self, arguments: list[Field]) -> None:
        operands, position = list[Field](), 0
        while position < len(arguments):
            text = arguments[position].text
            position += 1
            if text in ("-F", "-v") and not operands:
                position += 1
            elif text.startswith("-") and text != "-" and not text.startswith(("-F", "-v")):
                self.doubt(f"`awk {text}` is not an option that can be checked")
            elif not text.startswith("-"):
                operands.append(arguments[position - 1])
        if operands and not is_safe_awk(operands[0].text):
            self.doubt("this awk program writes, or starts something")
        for operand in operands[1:]:
            self.places.check_argument(operand)


_OPTIONAL_VALUES = frozenset({"--color", "--colour", "--iso-8601", "--context", "--unified", "--time-style"})


def _begins_expression(text: str) -> bool:
    return text in ("(", "!", ",") or (text.startswith("-") and not re.match(r"-[HPLOD]", text) and text != "-follow")
