"""Snippets that were written from the stubs alone, and what each of them should have done.

`toolsets/NAME` has the tools of a set (`tools.py`) and tasks in words with what they should give (`tasks.json`).
`snippets/NAME/TASK.py` is what an author wrote who saw the stubs and the task; `TASK.corrected.py`, where the first try
was not right, what the author made of it after seeing what a model would see: the report.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from coilclaw.app import CoilClaw

__all__ = ["SETS", "Task", "Verdict", "attempt", "opened", "snippet_of", "tasks"]

_FOLDER: Final = Path(__file__).parent
SETS: Final = tuple(sorted(path.name for path in (_FOLDER / "toolsets").iterdir() if path.is_dir()))

Try = Literal["first", "corrected"]


@dataclass(frozen=True, kw_only=True)
class Task:
    """What an author was asked for, and how one sees that it was done."""

    toolset: str
    id: str
    words: str
    values: tuple[Any, ...] = ()
    """Where the words leave something open, each reading has its own."""
    effects: tuple[tuple[Any, ...], ...] = ()
    stdout: str | None = None
    json_content: Any = None


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How a try went: `wrong` says what is not as it should be; `said` what its author would be told."""

    wrong: str | None
    status: str
    hint: str
    said: str
    warned: bool

    @property
    def right(self) -> bool:
        return self.wrong is None

    @property
    def silent(self) -> bool:
        """Not right, and nothing told its author: neither an error with a hint nor a warning."""
        return not self.right and not self.hint and not self.warned


def tasks() -> Iterator[Task]:
    for toolset in SETS:
        for row in json.loads((_FOLDER / "toolsets" / toolset / "tasks.json").read_text("utf-8")):
            yield Task(
                toolset=toolset,
                id=row["id"],
                words=row["task"],
                values=tuple(row[key] for key in ("value", "or_value") if key in row),
                effects=tuple(
                    tuple(row.get(key, ())) for key in ("effects", "or_effects") if key in row or key == "effects"
                ),
                stdout=row.get("stdout"),
                json_content=row.get("json_content"),
            )


def snippet_of(task: Task, which: Try = "first") -> str | None:
    path = _FOLDER / "snippets" / task.toolset / (f"{task.id}.py" if which == "first" else f"{task.id}.corrected.py")
    return path.read_text("utf-8") if path.exists() else None


def opened(toolset: str, folder: Path) -> CoilClaw:
    """An app that has the tools of a set, and may use them without asking."""
    place = folder / "workspace" / "tools" / toolset
    place.mkdir(parents=True)
    (place / "tools.py").write_bytes((_FOLDER / "toolsets" / toolset / "tools.py").read_bytes())
    return CoilClaw.open(
        folder / "home", workspace=folder / "workspace", config={"security.autonomy": "full"}, workers=2
    )


def attempt(claw: CoilClaw, task: Task, source: str, engine: str, workspace: Path) -> Verdict:
    """Run a snippet, and compare what it gave and did with what it should have."""
    left = workspace / "effects.jsonl"
    left.unlink(missing_ok=True)
    report = claw.run(source, engine=engine, timeout=20)
    effects = [json.loads(line) for line in left.read_text("utf-8").splitlines()] if left.exists() else []
    facts = report.facts()
    error, warnings = facts.get("error") or {}, facts.get("warnings") or []
    return Verdict(
        wrong=_wrong(task, report.status, facts, effects),
        status=report.status,
        hint=str(error.get("hint") or ""),
        said=json.dumps(
            {
                "status": report.status,
                "value": facts.get("value"),
                "stdout": report.stdout[-2000:],
                "stderr": facts.get("stderr"),
                "error": error or None,
                "warnings": warnings,
            },
            ensure_ascii=False,
            default=str,
        ),
        warned=bool(warnings),
    )


def _wrong(task: Task, status: str, facts: dict[str, Any], effects: list[Any]) -> str | None:
    if status != "completed":
        return f"it ended as {status}"
    if task.values and not any(same(facts.get("value"), each) for each in task.values):
        return f"it gave {facts.get('value')!r} instead of {task.values[0]!r}"
    if task.stdout is not None and task.stdout not in facts.get("stdout", ""):
        return f"it printed {facts.get('stdout')!r}"
    if task.json_content is not None:
        if len(effects) != 1 or json.loads(effects[0][1]["content"]) != task.json_content:
            return f"it did {effects!r}"
    elif not any(_same_effects(effects, each) for each in task.effects):
        return f"it did {effects!r} instead of {task.effects[0]!r}"
    return None


def _same_effects(found: list[Any], wanted: tuple[Any, ...]) -> bool:
    """In any order, for they may have been done in parallel."""
    left = list(wanted)
    for effect in found:
        place = next((n for n, other in enumerate(left) if same(effect, other)), None)
        if place is None:
            return False
        del left[place]
    return not left


def same(found: Any, wanted: Any) -> bool:
    """Equal as an answer: `"12.50"` is as good as 12.5, and Z as +00:00."""
    if isinstance(wanted, dict):
        return (
            isinstance(found, dict)
            and {str(key) for key in found} == set(wanted)
            and all(same(value, wanted[str(key)]) for key, value in found.items())
        )
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(wanted, bool) or wanted is None:
        return found is wanted
    if (numbers := (_number(found), _number(wanted))) and None not in numbers:
        # Half a cent is rounded one way or the other.
        return math.isclose(
            numbers[0] or 0, numbers[1] or 0, rel_tol=1e-9, abs_tol=0.0101 if abs(numbers[1] or 0) > 100 else 1e-6
        )
    return str(found).replace("Z", "+00:00").strip() == str(wanted).replace("Z", "+00:00").strip()


def _number(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
