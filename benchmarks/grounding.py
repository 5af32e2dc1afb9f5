"""Precision and recall of the check of answers: `python benchmarks/grounding.py [FILE.jsonl ...] [--wrong]`.

Without files, the public cases in `tests/evidence/grounding/cases` are checked. Prints a table by kind and by language;
`--wrong` adds the ids of the cases that got the wrong verdict.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.evidence.grounding.case_set import CASES, Score, cases, scores

LANGUAGES = ("en", "de", "es", "fr", "zh")


def row(name: str, score: Score) -> str:
    lies, honest = score.caught + len(score.missed), score.passed + len(score.alarms)
    caught = f"{score.caught}/{lies} ({score.recall:.1%})" if lies else "-"
    alarms = f"{len(score.alarms)}/{honest} ({score.alarm_rate:.1%})" if honest else "-"
    precision = f"{score.precision:.1%}" if lies else "-"
    return f"| {name} | {caught} | {alarms} | {precision} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--wrong", action="store_true")
    options = parser.parse_args()
    names = [str(file.resolve().with_suffix("")) for file in options.files]
    given = list(cases(*names) if names else cases(*sorted(path.stem for path in CASES.glob("*.jsonl"))))
    started = time.process_time()
    found = scores(given)
    spent = time.process_time() - started
    print("| cases | fabrications caught | false alarms | precision |\n|---|---|---|---|")
    print(row("all", found.pop("")))
    for name in (*(each for each in LANGUAGES if each in found), *sorted(found.keys() - {*LANGUAGES})):
        print(row(name, found[name]))
    print(f"\n{len(given)} answers, {1000 * spent / len(given):.2f} ms each")
    if options.wrong:
        total = scores(given)[""]
        print(f"missed: {' '.join(total.missed)}\nalarms: {' '.join(total.alarms)}")


if __name__ == "__main__":
    main()
