"""Checking the arguments of one program: which are paths, which start something, which are never allowed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass

from coilclaw.integrations.shell.grammar import Refused
from coilclaw.integrations.shell.places import FOUND, Places
from coilclaw.integrations.shell.programs import (
    AWKS,
    FIND_DATA,
    FIND_FLAGS,
    FIND_PATHS,
    OPTIONS,
    STARTING_OPTIONS,
    Options,
    changes_nothing,
    is_safe_awk,
    is_safe_sed,
    sed_arguments,
)

__all__ = ["Arguments", "is_known"]

_FILE_TESTS = frozenset(f"-{letter}" for letter in "efdrwxsLhpSbcgukOGN")
_RECURSIVE = ("--recursive", "--directories", "--archive")
_FILE_COMPARISONS = frozenset({"-ef", "-nt", "-ot"})
_OPTIONAL_VALUES = frozenset({"--color", "--colour", "--iso-8601", "--context", "--unified", "--time-style"})
_LONGEST_CLUSTER = 24
_SPECIAL = frozenset({"find", "sed", "date", "ln", "test", "[", "cp", "mv", *AWKS})


def is_known(program: str) -> bool:
    """Whether it is known what the arguments of this program mean."""
    return program in _SPECIAL or program in OPTIONS


@dataclass(frozen=True)
class Arguments:
    """Checks for one command. `start` judges a command that the program would start; `doubt` notes what is not sure."""

    places: Places
    start: Callable[[list[str]], object]
    doubt: Callable[[str], None]

    def check(self, program: str, arguments: list[str]) -> None:
        self._check_starting(program, arguments)
        if program in AWKS:
            self._awk(arguments)
        elif program in ("cp", "mv"):
            self._copy(program, arguments)
        elif program in _SPECIAL:
            special = {"find": self._find, "sed": self._sed, "date": self._date, "ln": self._ln}
            special.get(program, self._test)(arguments)
        elif program in OPTIONS:
            self._options(program, OPTIONS[program], arguments)
        else:
            for each in arguments:
                self.places.check_argument(each, near=True)

    def _operands(self, operands: list[str], *, recursive: bool = False) -> None:
        """Check operands, each of which is a path. A name that `find` puts in is below a folder that was checked."""
        for operand in operands:
            if operand != FOUND:
                self.places.check(operand, recursive=recursive)

    def _check_starting(self, program: str, arguments: list[str]) -> None:
        """Refuse options whose value is a program, however they are shortened or put together."""
        options = STARTING_OPTIONS.get(program, ())
        letters = {option[1] for option in options if len(option) == 2}
        pairs = [option[1:] for option in options if len(option) > 2 and option[1] != "-"]
        for number, each in enumerate(arguments if options else ()):
            name = each.partition("=")[0]
            if program == "tar" and number == 0 and not each.startswith("-"):
                each = f"-{each}"  # The old way to write its options.
            is_long = name.startswith("--") and len(name) > 2
            if (is_long and any(option.startswith(name) for option in options)) or name in options:
                raise Refused(f"`{program} {name}` would start another program; leave it out")
            if re.match(r"-[A-Za-z]", each) and (letters & set(each[1:]) or any(pair in each for pair in pairs)):
                raise Refused(
                    f"`{program} {each}` may start another program; write its options apart, without that one"
                )

    def _options(self, program: str, options: Options, arguments: list[str]) -> None:
        if options.data_operands < 0:
            return
        operands, recursive, stood_in = self._read(program, options, arguments)
        paths = operands if stood_in else operands[options.data_operands :]
        if FOUND in arguments and paths[-1:] != [FOUND]:
            self.places.check(FOUND)
        paths = paths or ["."] * recursive
        self._operands(paths, recursive=recursive)
        for operand in paths:
            if operand != FOUND and (options.follows or (options.writes and recursive)):
                self.places.check_below(operand, follows=options.follows, writes=options.writes)

    def _read(self, program: str, options: Options, arguments: list[str]) -> tuple[list[str], bool, bool]:
        """Check the options. The operands, whether folders are looked into, whether an option stands in for data."""
        operands, position = list[str](), 0
        recursive, stood_in, ended = options.recurses == "*", False, False
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
                recursive = recursive or any(each.startswith(name) for each in _RECURSIVE)
                stood_in = stood_in or any(each.startswith(name) for each in options.instead)
                if name not in options.data_long:
                    if equals and value:
                        self.places.check_argument(value, recursive=recursive)
                    elif any(each.startswith(name) for each in options.paths_long) and position < len(arguments):
                        self.places.check_argument(arguments[position], recursive=False)
                        position += name in options.paths_long
                elif not equals and name not in _OPTIONAL_VALUES and position < len(arguments):
                    position += 1
            else:
                for place, letter in enumerate(text[1:], start=1):
                    if not letter.isalnum() or place > _LONGEST_CLUSTER:
                        raise Refused(f"`{program} {text[:50]}` is not an option that can be checked; leave it out")
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
        return operands, recursive, stood_in

    def _copy(self, program: str, arguments: list[str]) -> None:
        """What lies in a folder goes along, under the same names, to where the folder goes."""
        operands, recursive, _ = self._read(program, OPTIONS[program], arguments)
        *sources, destination = operands or ["."]
        into = self.places.is_folder(destination)
        # A folder may be gone by then, and made anew by this program: all but the one that the command is started in.
        lasting = into and (not recursive or destination.rstrip("/") == ".")
        self.places.check(destination, writes=bool(sources) and not lasting)
        for source in sources:
            self.places.check(source, recursive=recursive)
            target = f"{destination}/{source.rstrip('/').rpartition('/')[2]}" if into else destination
            if into:
                self.places.check(target, writes=True)
            if recursive:
                self.places.check_below(source, writes=True)
                # A file that is copied goes through a link that has its name there.
                self.places.check_below(target, follows=True)

    def _check_refused(self, program: str, options: Options, name: str) -> None:
        for refused, reason in options.refused.items():
            if name == refused or (name.startswith("--") and len(name) > 2 and refused.startswith(name)):
                raise Refused(f"`{program} {refused}` {reason}")

    def _date(self, arguments: list[str]) -> None:
        for operand in self._read("date", OPTIONS["date"], arguments)[0]:
            if not operand.startswith("+"):
                raise Refused(f"`date {operand}` would set the clock of the machine; use +format or -d")

    def _test(self, arguments: list[str]) -> None:
        for before, each in itertools.pairwise(arguments):
            if before in _FILE_TESTS or before in _FILE_COMPARISONS:
                self._operands([each])
            if each in _FILE_COMPARISONS:
                self._operands([before])

    def _ln(self, arguments: list[str]) -> None:
        """A link means what it says from the folder it is in, which may not be the one it is made from."""
        options, operands = (
            [each for each in arguments if each.startswith("-") is is_option] for is_option in (True, False)
        )
        for each in options:
            if not re.fullmatch(r"-[sfnv]+|--symbolic|--force|--verbose", each):
                raise Refused(f"`ln {each}` is not an option that can be checked; leave it out")
        if len(operands) != 2 or self.places.is_folder(operands[1]):
            raise Refused("`ln` makes one link at a time here, named in full: ln -s target link")
        target, link = operands
        self.places.check(link, writes=True)
        if any("s" in each for each in options) and not target.startswith("/"):
            target = f"{link.rpartition('/')[0] or '.'}/{target}"
        self.places.check(target, recursive=True)
        if not self.places.exists(target):
            raise Refused(f"the link {link!r} would lead to nothing, or to what is only made later; make that first")

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
                    self.places.check(value, writes=test.startswith("-f"))
                position += FIND_PATHS[test]
            elif test == "-delete":
                raise Refused("`find -delete` deletes files that are not named; use tools.files.delete(…) for each")
            elif test in ("-ok", "-okdir"):
                raise Refused(f"`find {test}` asks before it starts something, and nobody is there; use -exec")
            elif test == "-exec":
                position = self._find_start(arguments, position, folders)
            else:
                raise Refused(f"`find {test}` is not a test that can be checked; use -name, -type, -size and the like")

    def _find_start(self, arguments: list[str], position: int, folders: list[str]) -> int:
        end = position
        while end < len(arguments) and arguments[end] != ";":
            if arguments[end] == "+" and arguments[end - 1] == "{}":
                break
            end += 1
        if end >= len(arguments) or end == position:
            raise Refused("`find -exec` needs a command and a `\\;` or `{} +` at its end")
        command = [FOUND if each == "{}" else each for each in arguments[position:end]]
        # What is found is a name, and not known here: glued to other text it would be another path, or code.
        if any("{}" in each for each in command[:-1]) or "{}" in command[-1].removesuffix(FOUND):
            raise Refused("`{}` may only be the last argument of `find -exec`, on its own; or loop in Python")
        writes = not changes_nothing(command)
        for folder in folders:
            self.places.check(folder, recursive=True, writes=writes)
            # What is found may be a link, which the program that is started follows.
            self.places.check_below(folder, follows=True, writes=writes)
        self.start(command)
        return end + 1

    def _sed(self, arguments: list[str]) -> None:
        _, operands, unknown = sed_arguments(arguments)
        for text in unknown:
            if re.match(r"-[nErsuz]*i|--i", text):
                raise Refused(f"`sed {text}` keeps a copy under a name that is not checked; use -i on its own")
            self.doubt(f"`sed {text}` is not an option that can be checked")
            self.places.check_argument(text)
        if not is_safe_sed(arguments):
            self.doubt("this sed script is more than one substitution, or printing or dropping lines")
        if FOUND in arguments and FOUND not in operands:
            self.places.check(FOUND)
        self._operands(operands)

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
        if FOUND in arguments[: position + 1]:
            self.places.check(FOUND)
        for operand in arguments[position + 1 :]:
            self._operands([operand])
            if operand != FOUND:
                self.places.check_argument(operand)


def _begins_expression(text: str) -> bool:
    # A comma before any test is a path.
    return text in ("(", "!") or (text.startswith("-") and not re.match(r"-[HPLOD]", text) and text != "-follow")
