import csv
import io
import statistics
from collections import defaultdict

DATA = """region,product,amount
north,apple,10
south,apple,4.5
north,pear,7
south,"pear, green",3
north,apple,2
"""


def report(text: str) -> dict[str, dict[str, float]]:
    amounts: dict[str, list[float]] = defaultdict(list)
    for row in csv.DictReader(io.StringIO(text)):
        amounts[row["region"]].append(float(row["amount"]))
    return {
        region: {"sum": sum(values), "mean": round(statistics.mean(values), 2), "max": max(values)}
        for region, values in sorted(amounts.items())
    }


assert report(DATA) == {
    "north": {"sum": 19.0, "mean": 6.33, "max": 10.0},
    "south": {"sum": 7.5, "mean": 3.75, "max": 4.5},
}

"ok"
