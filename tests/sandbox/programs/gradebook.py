from collections import defaultdict
from statistics import mean, median
from typing import DefaultDict, Dict, List, Tuple

students: List[Tuple[str, Dict[str, int]]] = [
    ("Iris", {"math": 91, "art": 78, "bio": 85}),
    ("Jonas", {"math": 64, "art": 95}),
    ("Keiko", {"math": 88, "art": 88, "bio": 99}),
]


def letter(score: float) -> str:
    for floor, grade in [(90, "A"), (80, "B"), (70, "C"), (60, "D")]:
        if score >= floor:
            return grade
    return "F"


by_subject: DefaultDict[str, List[int]] = defaultdict(list)
averages: Dict[str, float] = {}
for name, marks in students:
    averages[name] = mean(marks.values())
    for subject, mark in marks.items():
        by_subject[subject].append(mark)

ranking = sorted(averages, key=averages.get, reverse=True)
assert ranking == ["Keiko", "Iris", "Jonas"]
assert {n: letter(a) for n, a in averages.items()} == {"Iris": "B", "Jonas": "C", "Keiko": "A"}
assert median(by_subject["art"]) == 88 and len(by_subject["bio"]) == 2

report = []
for place, name in enumerate(ranking, 1):
    report.append(f"{place}. {name:<8}{averages[name]:>7.2f} {letter(averages[name])}")
print(*report, sep="\n")
assert report[0] == "1. Keiko     91.67 A"
best = {s: max(((m[s], n) for n, m in students if s in m))[1] for s in by_subject}
assert best == {"math": "Iris", "art": "Jonas", "bio": "Keiko"}
groups = {g: [n for n in averages if letter(averages[n]) == g] for g in "ABCDF"}
assert groups["F"] == [] and groups["C"] == ["Jonas"]
"ok"
