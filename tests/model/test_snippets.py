"""Code that models write works the first time: snippets written from the stubs alone do what was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.model.attempts import SETS, Task, Verdict, attempt, opened, snippet_of, tasks

_LEAST_RIGHT = {"wasm": 0.90, "restricted": 0.85}
_LEAST_RIGHT_AFTER_ONE_CORRECTION = 0.98


def _tried(folder: Path, engine: str) -> list[tuple[Task, Verdict, Verdict | None]]:
    """Every task with the verdicts on the first try and, where there is one, on the correction."""
    found = []
    for toolset in SETS:
        place = folder / toolset
        with opened(toolset, place) as claw:
            for task in tasks():
                if task.toolset != toolset:
                    continue
                first, corrected = snippet_of(task), snippet_of(task, "corrected")
                assert first is not None, f"nobody wrote a snippet for {task.toolset} {task.id}"
                again = None if corrected is None else attempt(claw, task, corrected, engine, place / "workspace")
                found.append((task, attempt(claw, task, first, engine, place / "workspace"), again))
    return found


@pytest.mark.parametrize("engine", ["wasm", "restricted"])
def test_what_authors_write_from_the_stubs_alone_is_right(tmp_path: Path, engine: str) -> None:
    found = _tried(tmp_path, engine)
    wrong = {f"{task.toolset} {task.id}": f"{first.wrong}; {first.said}" for task, first, _ in found if not first.right}
    left = [
        name
        for name in wrong
        if not any(again and again.right for task, _, again in found if name == f"{task.toolset} {task.id}")
    ]
    assert len(found) >= 150
    assert 1 - len(wrong) / len(found) >= _LEAST_RIGHT[engine], wrong
    assert 1 - len(left) / len(found) >= _LEAST_RIGHT_AFTER_ONE_CORRECTION, left
    failed = [first for _, first, _ in found if first.status != "completed"]
    assert [each.said for each in failed if not each.hint] == []
