"""The verdict about a command: how risky it is, or why it is not run at all.

Forbidden at every autonomy level is what must never happen (a forbidden program, a path outside the workspace,
one of the well-known ways to destroy a machine) and what is outside the grammar.

A program that the operator did not allow is forbidden, or destructive in `full`. So is what stays in doubt:
every program whose arguments are not known here, be it an interpreter, one that starts others in ways of its own
(make, git, tar, ssh) or merely unknown. That holds although the program itself may be allowed, because allowing a
program does not say what it may be made to do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from coilclaw.integrations.shell.arguments import Arguments, is_known
from coilclaw.integrations.shell.grammar import CommandLine, Refused, Stage
from coilclaw.integrations.shell.patterns import expanded
from coilclaw.integrations.shell.places import FOUND, Places
from coilclaw.integrations.shell.programs import (
    ALWAYS_ALLOWED,
    ALWAYS_FORBIDDEN,
    AWKS,
    DATA_ONLY,
    DOWNLOADERS,
    INTERPRETERS,
    LAUNCHERS,
    PREFIXES,
    REFUSED,
    Prefix,
    bare_name,
    instead_of,
    is_harmless_variable,
    is_safe_awk,
    is_safe_sed,
    makes_links,
)
from coilclaw.sdk import Bounds, Risk

__all__ = ["Verdict", "verdict"]

_SYSTEM_FOLDERS = ("/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/")
_DESTROYERS = ("rm", "dd", "chmod", "chown", "chgrp")
_EVERYTHING = re.compile(r"(?:.*/)?\.?(?:[*?]|\[[^\]/]*\])++/?", re.DOTALL)
_ANYBODY = re.compile(r"[0-7]*777|(?:a|ugo)?[+=]rwx")
_DEEPEST = 10
_INPUT = "<input>"
"""Stands for the arguments that xargs adds."""


@dataclass(frozen=True)
class Verdict:
    """The command with its patterns replaced, which is what will be started, and how risky that is."""

    line: CommandLine
    risk: Risk


def verdict(line: CommandLine, folder: str, workspace: Path, bounds: Bounds) -> Verdict:
    """Judge the command as it would be started in this folder of the workspace. Refused if it must not run."""
    places = Places(workspace, folder, bounds.forbidden_paths)
    if line.folder != ".":
        places.folder(line.folder)
        places = Places(workspace, f"{folder}/{line.folder}".lstrip("/"), bounds.forbidden_paths)
    judged = expanded(line, places)
    judge = _Judge(places, bounds)
    for pipeline in judged.pipelines:
        judge.pipeline(pipeline.stages)
    if judge.doubts and bounds.autonomy != "full":
        raise Refused(judge.doubts[0])
    return Verdict(judged, Risk.DESTRUCTIVE if judge.doubts else Risk.WRITE)


class _Judge:
    def __init__(self, places: Places, bounds: Bounds) -> None:
        self._places = places
        self._bounds = bounds
        self._forbidden = {each.casefold() for each in (*bounds.forbidden_commands, *ALWAYS_FORBIDDEN)}
        self.doubts: list[str] = []
        self._linker = ""
        """The first program so far, in the command or in a stage, that may make or move links."""

    def pipeline(self, stages: tuple[Stage, ...]) -> None:
        downloads, before = False, self._linker
        linkers, naming = list[str](), list[bool]()
        for stage in stages:
            checked, self._linker = self._places.checked, ""
            for redirection in stage.redirections:
                if redirection.operator != ">&":
                    self._places.check(redirection.target)
            redirected = self._places.checked > checked
            patterns = [word.pattern for word in stage.words if word.pattern is not None]
            names = self._command(stage.argv, patterns)
            if downloads and (name := next(filter(INTERPRETERS.fullmatch, names), None)):
                raise Refused(f"{name} would run what is downloaded unseen; save it to a file and read it first")
            downloads = downloads or bool(DOWNLOADERS & set(names))
            linkers.append(self._linker)
            # One that is not known is in doubt as a whole, whatever it names.
            naming.append(self._places.checked > checked and (redirected or all(map(_is_judged, names))))
        for number, names_paths in enumerate(naming):
            others = [before, *linkers[:number], *linkers[number + 1 :]]
            if names_paths and (linker := next(filter(None, others), "")):
                raise Refused(f"`{linker}` may change what a path of another program here means; use two calls")
        self._linker = next(filter(None, [before, *linkers]), "")

    def _command(self, argv: list[str], patterns: list[str], depth: int = 0) -> list[str]:
        """Judge one program with its arguments, however it is started. Returns the names of all that it starts."""
        if depth > _DEEPEST:
            raise Refused("too many programs start one another here; name the last one")
        program, arguments = argv[0], argv[1:]
        if program in (_INPUT, FOUND, ""):
            raise Refused(
                "the program that is started here has no name, or one that only the run would show; write it out"
            )
        name = bare_name(program)
        self._check_forbidden(name)
        if "/" in program and not program.startswith(_SYSTEM_FOLDERS):
            self._places.check(program)
        elif "/" in program and ".." in program.split("/"):
            raise Refused(f"{program!r} leads out of a folder with '..'; name the program")
        self._check_destruction(name, arguments, patterns)
        if reason := REFUSED.get(name):
            raise Refused(f"`{name}` {reason}")
        names = [name]
        if name in PREFIXES:
            inner = self._started(name, PREFIXES[name], arguments)
            names += self._command(inner, patterns, depth + 1) if inner else []
        if not self._is_allowed(program, name):
            hint = instead_of(name) or "use another tool, or Python; the operator's shell_allow lists what may start"
            self.doubts.append(f"the program {program!r} is not on the allowlist; {hint}")
            for each in arguments:  # It may be one that starts what its arguments name.
                if each.startswith(_SYSTEM_FOLDERS) or "/" not in each:
                    self._check_forbidden(bare_name(each))
        if name in PREFIXES:
            return names
        if makes_links(name, arguments):
            self._linker = self._linker or name
        if not is_known(name):
            self.doubts.append(
                f"`{name}` is not a program whose arguments can be checked here, so it runs at autonomy 'full' only; "
                + (instead_of(name) or "use another tool, or Python")
            )
        if name in LAUNCHERS or INTERPRETERS.fullmatch(name) or _is_unsafe_script(name, arguments):
            self._launcher(name, arguments)
        if _INPUT in arguments and name not in DATA_ONLY:
            raise Refused(f"what xargs would give to `{name}` is not known; read the names in Python and pass argv=")
        known = [each for each in arguments if each != _INPUT]

        def start(argv: list[str]) -> None:
            names.extend(self._command(argv, patterns, depth + 1))

        Arguments(self._places, start, self.doubts.append).check(name, known)
        return names

    def _is_allowed(self, program: str, name: str) -> bool:
        if program in ALWAYS_ALLOWED or ("/" not in program and program in self._bounds.shell_allow):
            return True
        return name in self._bounds.shell_allow and any(program == folder + name for folder in _SYSTEM_FOLDERS)

    def _check_forbidden(self, name: str) -> None:
        for each in (name, name.split(".", 1)[0]):
            if each in self._forbidden:
                raise Refused(
                    f"the program `{each}` is forbidden; {instead_of(each) or 'find another way or ask a person'}"
                )

    def _check_destruction(self, name: str, arguments: list[str], patterns: list[str]) -> None:
        """The patterns that are blocked whatever the operator allows."""
        if name not in _DESTROYERS:
            return
        short = "".join(text[1:] for text in arguments if re.match(r"-[A-Za-z]", text))
        recursive = "R" in short or any(len(text) > 2 and "--recursive".startswith(text) for text in arguments)
        if name == "dd" and any(text.startswith(("if=", "of=")) for text in arguments):
            raise Refused("`dd if=` copies raw devices; use cp")
        if name in ("chown", "chgrp") and recursive:
            raise Refused(f"`{name} -R` is forbidden; a person changes owners")
        if name == "chmod" and recursive and any(map(_ANYBODY.fullmatch, arguments)):
            raise Refused("`chmod -R 777` is forbidden; give only the permissions that are needed")
        for text in (*arguments, *patterns) if name == "rm" and (recursive or "r" in short) else ():
            if self._places.contains_start(text) or _EVERYTHING.fullmatch(text):
                raise Refused(f"`rm -r {text}` would remove everything; name the files")

    def _started(self, name: str, prefix: Prefix, arguments: list[str]) -> list[str]:
        """The command that a program such as `env` or `timeout` would start. Refused if that is not plain."""
        position, leading = 0, prefix.leading
        while position < len(arguments):
            text = arguments[position]
            variable, equals, value = text.partition("=")
            if text == "--":
                raise Refused(f"`{name} --` is not needed; leave the -- out")
            if text.startswith("-") and leading == prefix.leading:
                position += self._takes_next(name, prefix, text)
            elif prefix.assignments and equals:
                if not is_harmless_variable(variable):
                    raise Refused(
                        f"the variable {variable} may change what programs do; only TZ, LANG, LC_… can be set"
                    )
                self._places.check_argument(value)
            elif leading:
                leading -= 1
            else:
                break
            position += 1
        for each in arguments[:position]:
            self._places.check_argument(each, recursive=False)
        inner = arguments[position:]
        if _INPUT in arguments[:position]:
            raise Refused(f"what xargs would give to `{name}` is not known; write it out")
        if not inner and prefix.feeds:
            inner = ["echo"]
        return [*inner, _INPUT] if prefix.feeds else inner

    @staticmethod
    def _takes_next(name: str, prefix: Prefix, text: str) -> bool:
        """Whether the option's value is the next argument. Refused if the option is not known."""
        option, equals, _ = text.partition("=")
        if text.startswith("--"):
            if (option + equals) in prefix.long:
                return False
        else:
            for number, letter in enumerate(text[1:], start=2):
                if letter in prefix.values:
                    return number == len(text)
                if letter not in prefix.flags:
                    break
            else:
                return False
        raise Refused(f"`{name} {text}` cannot be checked; leave that option out")

    def _launcher(self, name: str, arguments: list[str]) -> None:
        for each in arguments:
            for token in re.findall(r"[A-Za-z0-9_.+\-]+", each):
                self._check_forbidden(bare_name(token))
            if name not in LAUNCHERS and each.startswith("/dev/"):
                raise Refused(f"`{name}` would run whatever it is given to read; name a file of the workspace")


def _is_judged(name: str) -> bool:
    return is_known(name) or name in PREFIXES


def _is_unsafe_script(name: str, arguments: list[str]) -> bool:
    """Whether what sed or awk is given may start programs."""
    if name == "sed":
        return not is_safe_sed(arguments)
    return name in AWKS and not all(map(is_safe_awk, arguments))
