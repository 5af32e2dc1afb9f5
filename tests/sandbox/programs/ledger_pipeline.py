from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from typing import Callable, Dict, Iterable, Iterator, List, Optional


@dataclass(frozen=True)
class Entry:
    when: datetime
    account: str
    cents: int
    memo: str = ""


RAW = [
    "2024-01-05;cash;-12.50;lunch",
    "2024-01-06;bank;2000;salary",
    "broken line",
    "2024-02-01;bank;-850.00;rent",
    "2024-02-03;cash;-7.25",
    "2024-02-03;bank;abc;typo",
]
errors: List[str] = []


def parse(line: str) -> Optional[Entry]:
    try:
        when, account, amount, *memo = line.split(";")
        return Entry(datetime.strptime(when, "%Y-%m-%d"), account, round(float(amount) * 100), *memo)
    except ValueError as e:
        errors.append(f"{line!r}: {e}")
        return None


def pipeline(*stages: Callable[[Iterable], Iterable]) -> Callable[[Iterable], Iterable]:
    return lambda data: reduce(lambda acc, stage: stage(acc), stages, data)


def expenses(entries: Iterable[Entry]) -> Iterator[Entry]:
    return (e for e in entries if e.cents < 0)


def monthly(entries: Iterable[Entry]) -> Dict[str, int]:
    totals: Dict[str, int] = defaultdict(int)
    for e in entries:
        totals[e.when.strftime("%Y-%m")] -= e.cents
    return dict(totals)


run = pipeline(lambda ls: map(parse, ls), lambda es: filter(None, es), expenses, monthly)
assert run(RAW) == {"2024-01": 1250, "2024-02": 85725}
assert len(errors) == 2 and "not enough values" in errors[0] and "abc" in errors[1]
balance = sum(e.cents for e in map(parse, RAW) if e)
assert f"{balance / 100:,.2f}" == "1,130.25"
"ok"
