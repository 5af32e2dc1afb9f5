"""Patterns such as `*.md`: replaced, once, by the names of the files that match them.

As in bash: hidden files only match a pattern that begins with a dot, the names come in the order of their
characters, and a pattern that nothing matches stays as it was written. All are replaced before anything starts,
so a pattern that an earlier part of the command might change the meaning of is refused. What is found is bounded,
and so is the work of finding it: a pattern that would take more is refused, never cut short.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace

from coilclaw.integrations.shell.grammar import CommandLine, Pipeline, Refused, Stage, Word
from coilclaw.integrations.shell.places import Places
from coilclaw.integrations.shell.programs import changes_nothing

__all__ = ["expanded"]

_MOST_MATCHES = 2_000
_MOST_VISITS = 40_000
_VISITS_PER_FOLDER = 20
_VISITS_PER_NAME = 5
_MOST_STEPS = 4_000_000
_STEPS_PER_CHARACTER = 1_000
"""What it costs to prepare a character of a pattern, in comparisons of one."""
_LONGEST_NAME = 255
_PIECE = re.compile(r"\\(?P<escaped>.)|(?P<star>\*+)|(?P<any>\?)|(?P<set>\[[^\]]+\])|(?P<plain>.)", re.DOTALL)
_WILD = re.compile(r"(?:[^\\*?\[]|\\.)*+[*?\[]", re.DOTALL)


def expanded(line: CommandLine, places: Places) -> CommandLine:
    """The same command with every pattern replaced. Each match has been checked against what is forbidden."""
    search = _Search(places)
    before: list[Stage] = []
    pipelines: list[Pipeline] = []
    for pipeline in line.pipelines:
        for stage in pipeline.stages:
            if any(word.pattern is not None for word in stage.words):
                search.check_settled(stage, [*before, *(each for each in pipeline.stages if each is not stage)])
        pipelines.append(replace(pipeline, stages=tuple(search.stage(stage) for stage in pipeline.stages)))
        before += pipeline.stages
    return replace(line, pipelines=tuple(pipelines))


class _Search:
    def __init__(self, places: Places) -> None:
        self._places = places
        self._visits = self._steps = self._matches = 0

    def check_settled(self, stage: Stage, others: list[Stage]) -> None:
        """Refuse patterns of a stage if another one, before or beside it, may make files that they match."""
        for other in others:
            if not changes_nothing(other.argv):
                name = other.words[0].text
                raise Refused(f"`{name}` may make files that a pattern beside or after it matches; use two calls")
            targets = [each.target for each in other.redirections if each.operator in (">", ">>")]
            patterns = [word.pattern for word in stage.words if word.pattern is not None]
            if any(self._may_match(pattern, target) for pattern in patterns for target in targets):
                raise Refused("a pattern matches the file that the output goes to; write to another file")

    def _may_match(self, pattern: str, target: str) -> bool:
        self._work(_STEPS_PER_CHARACTER)
        parts, names = ([part for part in text.split("/") if part not in ("", ".")] for text in (pattern, target))
        if len(parts) != len(names):
            return target.startswith("/")
        matchers = (self._matcher(part, pattern) for part in parts)
        return all(matcher and matcher.fullmatch(name) for matcher, name in zip(matchers, names, strict=True))

    def stage(self, stage: Stage) -> Stage:
        if all(word.pattern is None for word in stage.words):
            return stage
        return replace(stage, words=tuple(found for word in stage.words for found in self._word(word)))

    def _word(self, word: Word) -> list[Word]:
        if word.pattern is None:
            return [word]
        parts = word.pattern.split("/")
        if "" in parts[:-1]:
            raise Refused(f"the pattern {word.text!r} must be relative, with single slashes")
        if ".." in parts:
            raise Refused(f"{word.text!r} leads out of a folder with '..'; use a path inside the workspace")
        found = [""]
        for number, part in enumerate(parts):
            found = self._step(found, part, is_last=number == len(parts) - 1, shown=word.text)
            if not found:
                return [word]
        self._matches += len(found)
        if self._matches > _MOST_MATCHES:
            raise Refused(f"the patterns match more than {_MOST_MATCHES} files; list them in Python and use fewer")
        for match in found:
            self._places.check(match)
        return [Word(match, word.pattern) for match in sorted(found)]

    def _step(self, folders: list[str], part: str, *, is_last: bool, shown: str) -> list[str]:
        """Go one part of the pattern further, from the folders that matched so far."""
        if not part:
            return folders
        if not _WILD.match(part):
            name = re.sub(r"\\(.)", r"\1", part, flags=re.DOTALL)
            return [found for folder in folders for found in self._named(folder, name, is_last)]
        matcher = self._matcher(part, shown)
        found: list[str] = []
        for folder in folders:
            self._visit(_VISITS_PER_FOLDER)
            self._places.check(folder or ".")
            try:
                with os.scandir(os.path.join(self._places.start, folder)) as entries:  # noqa: PTH118
                    for entry in entries:
                        self._visit(1)
                        if matcher is None or (entry.name[0] == "." and part[0] != "." and part[:2] != "\\."):
                            continue
                        self._work(len(entry.name) * len(part))
                        if not entry.name.isascii():
                            _check_name(entry.name)
                        if matcher.fullmatch(entry.name) and (is_last or entry.is_dir()):
                            found.append(folder + entry.name + ("" if is_last else "/"))
            except OSError:
                continue
        return found

    def _named(self, folder: str, name: str, is_last: bool) -> list[str]:
        self._visit(_VISITS_PER_NAME)
        self._places.check(folder or ".")
        place = os.path.join(self._places.start, folder, name)  # noqa: PTH118
        there = os.path.lexists(place) if is_last else os.path.isdir(place)  # noqa: PTH112
        return [folder + name + ("" if is_last else "/")] if there else []

    def _matcher(self, part: str, shown: str) -> re.Pattern[str] | None:
        """A regular expression for one part, or None if it is longer than any name.

        What stands between two stars is looked for once, from the left, and never again: the time is bounded by
        the length of the name times that of the part.
        """
        self._work(len(part) * _STEPS_PER_CHARACTER)
        segments, length = [""], 0
        for piece in _PIECE.finditer(part):
            if piece["star"]:
                segments.append("")
                continue
            length += 1
            if piece["any"]:
                segments[-1] += "."
            elif piece["set"]:
                segments[-1] += piece["set"].replace("[!", "[^", 1)
            else:
                segments[-1] += re.escape(piece["escaped"] or piece["plain"])
        if length > _LONGEST_NAME:
            return None
        first, *rest = segments
        text = (
            first + "".join(f"(?>.*?{segment})" for segment in rest[:-1]) + "".join(f".*{each}" for each in rest[-1:])
        )
        matcher = re.compile(text, re.DOTALL)
        if part.startswith((".", "\\.")) and matcher.fullmatch(".."):
            raise Refused(f"the pattern {shown!r} can stand for '..'; begin it with .[!.]")
        return matcher

    def _visit(self, count: int) -> None:
        self._visits += count
        if self._visits > _MOST_VISITS:
            raise Refused("the patterns lead through too many files; name folders, or list the files in Python")

    def _work(self, steps: int) -> None:
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise Refused("the patterns take too long to compare; make them shorter, or list the files in Python")


def _check_name(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise Refused("a pattern meets a file whose name is not text; name the files you need") from None
