"""Checking the arguments of one program: which are paths, which start something, which are never allowed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass

from coilclaw.integrations.shell.grammar import Refused
from coilclaw.integrations.shell.places import Places
from coilclaw.integrations.shell.programs import (
    FIND_DATA,
    FIND_FLAGS,
    FIND_PATHS,
    OPTIONS,
    STARTING_OPTIONS,
    Options,
    is_safe_awk,
    is_safe_sed,
)

__all__ = ["Arguments"]

_FILE_TESTS = frozenset(f"-{letter}" for letter in "efdrwxsLhpSbcgukOGN")
_FILE_COMPARISONS = frozenset({"-ef", "-nt", "-ot"})
_OPTIONAL_VALUES = frozenset({"--color", "--colour", "--iso-8601", "--context", "--unified", "--time-style"})
_MOST_LINKED = 10


@dataclass(frozen=True)
class Arguments:
    """Checks for one command. `start` judges a command that the program would start; `doubt` notes what is not sure."""

    places: Places
    start: Callable[[list[str]], object]
    doubt: Callable[[str], None]

    def check(self, program: str, arguments: list[str]) -> None:
        self._check_starting(program, arguments)
        special = {
            "find": self._find, "sed": self._sed, "awk": self._awk, "date": self._date, "ln": self._ln,
            "test": self._test, "[": self._test,
        }.get(program)  # fmt: skip
        if special is not None:
            special(arguments)
        elif program in OPTIONS:
            self._options(program, OPTIONS[program], arguments)
        else:
            for each in arguments:
                self.places.check_argument(each)

    def _check_starting(self, program: str, arguments: list[str]) -> None:
        """Refuse options whose value is a program, however they are shortened or put together."""
        options = STARTING_OPTIONS.get(program, ())
        letters = {option[1] for option in options if len(option) == 2}
        for number, each in enumerate(arguments if options else ()):
            name = each.partition("=")[0]
            if program == "tar" and number == 0 and not each.startswith("-"):
                each = f"-{each}"  # The old way to write its options.
            is_long = name.startswith("--") and len(name) > 2
            if (is_long and any(option.startswith(name) for option in options)) or name in options:
                raise Refused(f"`{program} {name}` would start another program; leave it out")
            if re.match(r"-[A-Za-z]", each) and letters & set(each[1:]):
                raise Refused(
                    f"`{program} {each}` may start another program; write its options apart, without that one"
                )

    def _options(self, program: str, options: Options, arguments: list[str]) -> None:
        operands: list[str] = []
        recursive, stood_in, ended = options.recurses == "*", False, False
        if options.data_operands < 0:
            return
        position = 0
        while position < len(arguments):
            text = arguments[position]
            position += 1
            if ended or not text.startswith("-") or text == "-":
                operands.append(text)
            elif text == "--":
                ended = True
            elif text.startswith("--"):
                name, equals, value = text.partition("=")
                self._check_refused(program, options, name)
                # GNU programs take any unambiguous beginning of a long option.
                recursive = recursive or any(each.startswith(name) for each in ("--recursive", "--directories"))
                stood_in = stood_in or any(each.startswith(name) for each in options.instead)
                if name not in options.data_long:
                    if equals and value:
                        self.places.check_argument(value, recursive=recursive)
                    elif any(each.startswith(name) for each in options.paths_long) and position < len(arguments):
                        self.places.check_argument(arguments[position], recursive=False)
                elif not equals and name not in _OPTIONAL_VALUES and position < len(arguments):
                    position += 1
            else:
                for place, letter in enumerate(text[1:], start=1):
                    self._check_refused(program, options, f"-{letter}")
                    recursive = recursive or letter in options.recurses
                    stood_in = stood_in or f"-{letter}" in options.instead
                    value = text[place + 1 :]
                    if letter in options.values:
                        if not value and position < len(arguments):
                            value = arguments[position]
                            position += 1
                        if letter not in options.data and value:
                            self.places.check_argument(value, recursive=False)
                        break
                    if value and not letter.isdigit():
                        self.places.check(value)  # In case the letter takes a value after all.
        paths = operands if stood_in else operands[options.data_operands :]
        for operand in paths or ["."] * recursive:
            self.places.check(operand, recursive=recursive)
            if options.follows:
                self.places.check_links_below(operand)

    def _check_refused(self, program: str, options: Options, name: str) -> None:
        for refused, reason in options.refused.items():
            if name == refused or (name.startswith("--") and len(name) > 2 and refused.startswith(name)):
                raise Refused(f"`{program} {refused}` {reason}")

    def _date(self, arguments: list[str]) -> None:
        self._options("date", OPTIONS["date"], [each for each in arguments if not each.startswith("+")])
        values = ("-d", "-r", "-f", "--date", "--reference", "--file", "--rfc-3339")
        for number, each in enumerate(arguments):
            follows_option = number > 0 and arguments[number - 1] in values
            if not each.startswith(("-", "+")) and not follows_option:
                raise Refused(f"`date {each}` would set the clock of the machine; use +format or -d")

    def _test(self, arguments: list[str]) -> None:
        for before, each in itertools.pairwise(arguments):
            if before in _FILE_TESTS or before in _FILE_COMPARISONS:
                self.places.check(each)
            if each in _FILE_COMPARISONS:
                self.places.check(before)

    def _ln(self, arguments: list[str]) -> None:
        """A link means what it says from the folder it is in, which may not be the one it is made from."""
        operands = [each for each in arguments if not each.startswith("-")]
        if len(operands) > _MOST_LINKED:
            raise Refused(f"`ln` may make at most {_MOST_LINKED} links at a time")
        for each in arguments:
            self.places.check_argument(each)
        for target in operands:
            for link in operands:
                for folder in (link, link.rpartition("/")[0] or "."):
                    self.places.check(f"{folder}/{target}" if not target.startswith("/") else target, recursive=True)

    def _find(self, arguments: list[str]) -> None:
        position = 0
        while position < len(arguments) and not _begins_expression(arguments[position]):
            text = arguments[position]
            if text in ("-L", "-follow") or text.startswith("-D"):
                raise Refused(f"`find {text}` follows links out of the workspace, or is not needed; leave it out")
            if not text.startswith(("-H", "-P", "-O")):
                self.places.check(text, recursive=True)
            position += 1
        folders = [each for each in arguments[:position] if not each.startswith("-")] or ["."]
        self.places.check(folders[0], recursive=True)
        while position < len(arguments):
            test = arguments[position]
            position += 1
            if test in FIND_FLAGS:
                continue
            if test in FIND_DATA:
                position += 1
            elif test in FIND_PATHS:
                for value in arguments[position : position + 1]:
                    self.places.check(value)
                position += FIND_PATHS[test]
            elif test == "-delete":
                self.start(["rm", "{}"])
            elif test in ("-exec", "-ok"):
                for folder in folders:  # What is found may be a link, which the program that is started follows.
                    self.places.check_links_below(folder)
                position = self._find_start(arguments, position)
            else:
                raise Refused(f"`find {test}` is not a test that can be checked; use -name, -type, -size and the like")

    def _find_start(self, arguments: list[str], position: int) -> int:
        end = position
        while end < len(arguments) and arguments[end] != ";":
            if arguments[end] == "+" and arguments[end - 1] == "{}":
                break
            end += 1
        if end >= len(arguments) or end == position:
            raise Refused("`find -exec` needs a command and a `\\;` or `{} +` at its end")
        if "{}" in arguments[position]:
            raise Refused("`find -exec {}` would start whatever file it finds; name a program")
        self.start(arguments[position:end])
        return end + 1

    def _sed(self, arguments: list[str]) -> None:
        scripts, operands, position = list[str](), list[str](), 0
        while position < len(arguments):
            text = arguments[position]
            position += 1
            if re.fullmatch(r"-[nErsuz]*e", text) or text == "--expression":
                scripts.extend(arguments[position : position + 1])
                position += 1
            elif re.fullmatch(r"-[nErsuz]+|-[nErsuz]*i[.\w]*|--quiet|--silent|--regexp-extended|--in-place", text):
                continue
            elif text.startswith("-") and text != "-":
                self.doubt(f"`sed {text}` is not an option that can be checked")
                self.places.check_argument(text)
            else:
                operands.append(text)
        if not scripts and operands:
            scripts.append(operands.pop(0))
        if not all(map(is_safe_sed, scripts)):
            self.doubt("this sed script is more than one substitution, or printing or dropping lines")
        for operand in operands:
            self.places.check(operand)

    def _awk(self, arguments: list[str]) -> None:
        position = 0
        while position < len(arguments) and arguments[position].startswith("-"):
            text = arguments[position]
            position += 2 if text in ("-F", "-v") else 1
            if not text.startswith(("-F", "-v")):
                self.doubt(f"`awk {text}` is not an option that can be checked")
                self.places.check_argument(text)
        for program in arguments[position : position + 1]:
            if not is_safe_awk(program):
                self.doubt("this awk program writes, or starts something")
        for operand in arguments[position + 1 :]:
            self.places.check(operand)
            self.places.check_argument(operand)


def _begins_expression(text: str) -> bool:
    return text in ("(", "!", ",") or (text.startswith("-") and not re.match(r"-[HPLOD]", text) and text != "-follow")
