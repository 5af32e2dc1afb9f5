import csv
from collections import Counter

text = tools.archive.fetch(path="data/sales.csv").unwrap()["content"].decode()
rows = list(csv.DictReader(text.splitlines()))

sums = Counter()
for row in rows:
    month = row["month"] if "month" in row else row["date"][:7]
    sums[month] += float(row["amount"])

month, amount = sums.most_common(1)[0]
[month, round(amount, 2)]
