from itertools import islice, takewhile, count
from typing import Dict, Iterable, Iterator

RAW = """\
2025-01-03,alpha,12
2025-01-04,beta,oops
# a comment
2025-01-05,alpha,30

2025-01-06,gamma,7
"""


def read_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        line = line.strip()
        if line and not line.startswith("#"):
            yield line


def parse(lines: Iterable[str]) -> Iterator[Dict]:
    for number, line in enumerate(lines, start=1):
        day, name, amount = line.split(",")
        try:
            yield {"line": number, "day": day, "name": name, "amount": int(amount)}
        except ValueError:
            continue


def total_by(records: Iterable[Dict], key: str) -> Dict[str, int]:
    totals: Dict[str, int] = {}
    for record in records:
        totals[record[key]] = totals.get(record[key], 0) + record["amount"]
    return totals


assert total_by(parse(read_lines(RAW)), "name") == {"alpha": 42, "gamma": 7}
squares = (n * n for n in count(1))
assert list(takewhile(lambda x: x < 50, squares)) == [1, 4, 9, 16, 25, 36, 49]
evens = filter(lambda n: n % 2 == 0, count())
assert list(islice(evens, 2, 8, 2)) == [4, 8, 12]
gen = parse(read_lines(RAW))
assert next(gen)["amount"] == 12 and next(gen)["line"] == 3 and next(gen)["name"] == "gamma"
assert next(gen, None) is None
"ok"
