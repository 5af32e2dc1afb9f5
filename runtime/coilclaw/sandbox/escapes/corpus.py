"""Reading the corpus: each payload is a snippet that tries to get out, and what may become of it.

A file of `payloads/` begins with what its class is about and how its payloads may end on each engine.
Then, for each payload, `=== [published] name` (it was used against a sandbox before), `=== [worked] name`
(it got out of an earlier version of this one) or `=== [own] name` (it is an addition), the snippet, and sections:

    --- then          another snippet, run afterwards on the same engine; may stand several times
    --- limits        limits that differ from the corpus' own, as `seconds=0.3 memory_mib=96`
    --- wasm          the statuses its first snippet may end with on that engine
    --- unprotected   why it does no harm even to a Python without any sandbox

`<<1000 * "text">>` in a snippet stands for that text a thousand times over; the text is a JSON string.

A snippet starts with these names, besides those every snippet has:

    variable, path, folder, port, pid    where the host's secrets, files, sockets and processes would be found
    marker                               printing it says the same as `tools.canary.reached`
    run                                  1 for the first snippet of a payload, 2 for the next one

and reports what it got hold of: with `tools.canary.reached(what)` something that matters where nothing but
the language stands between a snippet and the host (a module, a frame, a guard), with
`tools.canary.escaped(what)` something no snippet may have on any engine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args

from coilclaw.sandbox.limits import Limits
from coilclaw.sdk import RunStatus

__all__ = ["CLASSES", "EscapeClass", "Payload", "read_class", "read_corpus"]

CLASSES: Final = (
    "attribute walks",
    "format strings",
    "operator and functools",
    "real modules behind allowed names",
    "exceptions as carriers",
    "frames",
    "binding guard names",
    "writes that skip guards",
    "objects handed back",
    "serialisers",
    "never stopping",
    "memory and output",
    "compiler and stack",
    "exits",
    "the bridge",
    "persistence",
    "time",
)

Origin: TypeAlias = Literal["published", "worked", "own"]

_ORIGINS: Final[dict[str, Origin]] = {origin: origin for origin in get_args(Origin)}
_ENGINES: Final = ("wasm", "restricted")
_MIB: Final = 1024 * 1024
_LIMITS: Final = {"seconds": 5.0, "memory_mib": 128, "output_bytes": 256 * 1024, "source_bytes": _MIB, "calls": 250}
"""Little, so that what never ends is soon over."""
_PATIENCE: Final = 60.0
"""Seconds for a payload that is to come to its end by itself, however busy the machine is."""

_NAME: Final = re.compile(r"^=== \[(published|worked|own)\] (.+)\n", re.MULTILINE)
_SECTION: Final = re.compile(r"^--- (\w+)\n", re.MULTILINE)
_REPEATED: Final = re.compile(r'<<(\d+) \* ("(?:[^"\\]|\\.)*")>>')


@dataclass(frozen=True, kw_only=True)
class Payload:
    """One attack. `outcomes` names the statuses its first snippet may end with, by engine."""

    name: str
    kind: str
    origin: Origin
    snippets: tuple[str, ...]
    limits: Limits = field(default_factory=lambda: _limits(""))
    outcomes: Mapping[str, frozenset[RunStatus]] = field(default_factory=dict)
    harmless_unprotected: str | None = None

    def allows(self, engine: str, status: RunStatus) -> bool:
        """Whether it may end like this; an engine the corpus does not know may end it in any way."""
        return engine not in self.outcomes or status in self.outcomes[engine]

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


@dataclass(frozen=True, kw_only=True)
class EscapeClass:
    """Attacks that use the same weakness."""

    title: str
    about: str
    payloads: tuple[Payload, ...]


def read_corpus(titles: Iterable[str] = CLASSES) -> tuple[EscapeClass, ...]:
    """Every class of the corpus in order, or those named."""
    return tuple(read_class(title) for title in titles)


@cache
def read_class(title: str) -> EscapeClass:
    """One class by its title. ValueError if its file is not in the format described above."""
    file = resources.files("coilclaw.sandbox.escapes") / "payloads" / f"{title.replace(' ', '_')}.txt"
    header, *parts = _NAME.split(file.read_text(encoding="utf-8"))
    about, *sections = _SECTION.split(header)
    usual = _outcomes(dict(_pairs(sections)), title)
    payloads = [
        _payload(name, title, origin, body, usual)
        for origin, name, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]
    return EscapeClass(title=title, about=about.strip(), payloads=tuple(payloads))


def _payload(name: str, kind: str, origin: str, body: str, usual: Mapping[str, frozenset[RunStatus]]) -> Payload:
    source, *rest = _SECTION.split(body)
    sections = _pairs(rest)
    known = {"then", "limits", "unprotected", *_ENGINES}
    if unknown := {key for key, _ in sections} - known:
        raise ValueError(f"{kind}: {name}: unknown sections {sorted(unknown)}")
    single = dict(sections)
    outcomes = {**usual, **_outcomes(single, f"{kind}: {name}")}
    may_time_out = any("timed_out" in statuses for statuses in outcomes.values())
    return Payload(
        name=name,
        kind=kind,
        origin=_ORIGINS[origin],
        snippets=tuple(_expanded(text) for text in (source, *(text for key, text in sections if key == "then"))),
        limits=_limits(single.get("limits", ""), _LIMITS["seconds"] if may_time_out else _PATIENCE),
        outcomes=MappingProxyType(outcomes),
        harmless_unprotected=single["unprotected"].strip() if "unprotected" in single else None,
    )


def _pairs(sections: list[str]) -> list[tuple[str, str]]:
    return list(zip(sections[::2], sections[1::2], strict=True))


def _outcomes(sections: Mapping[str, str], where: str) -> dict[str, frozenset[RunStatus]]:
    known: dict[str, RunStatus] = {status: status for status in get_args(RunStatus)}
    try:
        return {
            engine: frozenset(known[word] for word in sections[engine].split())
            for engine in _ENGINES
            if engine in sections
        }
    except KeyError as error:
        raise ValueError(f"{where}: there is no status {error}") from None


def _limits(text: str, seconds: float = _LIMITS["seconds"]) -> Limits:
    given = {**_LIMITS, "seconds": seconds}
    for word in text.split():
        name, _, value = word.partition("=")
        if name not in given:
            raise ValueError(f"there is no limit {name!r}")
        given[name] = float(value) if name == "seconds" else int(value)
    return Limits(
        seconds=given["seconds"],
        memory_bytes=int(given["memory_mib"] * _MIB),
        output_bytes=int(given["output_bytes"]),
        source_bytes=int(given["source_bytes"]),
        calls=int(given["calls"]),
    )


def _expanded(source: str) -> str:
    # Texts of megabytes, of bytes no editor shows and of no valid Unicode are written down in short.
    return _REPEATED.sub(lambda found: int(found[1]) * json.loads(found[2]), source)
