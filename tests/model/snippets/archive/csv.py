import csv
import io
from collections import defaultdict
from decimal import Decimal

text = tools.archive.fetch(path="data/sales.csv").unwrap()["content"].decode("utf-8-sig")

totals = defaultdict(Decimal)
for row in csv.DictReader(io.StringIO(text)):
    totals[row["region"]] += Decimal(row["amount"])

dict(totals)
