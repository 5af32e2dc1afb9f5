import csv
import io
from collections import defaultdict
from statistics import mean

DATA = """region,product,units,price
north,"Lamp, small",3,12.50
south,Chair,1,80.00
north,Chair,2,75.00
east,Desk,0,210.00
south,"Lamp, small",4,11.00
"""

reader = csv.DictReader(io.StringIO(DATA))
assert reader.fieldnames == ["region", "product", "units", "price"]
revenue = defaultdict(float)
prices = defaultdict(list)
for row in reader:
    amount = int(row["units"]) * float(row["price"])
    revenue[row["region"]] += amount
    prices[row["product"]].append(float(row["price"]))

assert dict(revenue) == {"north": 187.5, "south": 124.0, "east": 0.0}
averages = {name: mean(values) for name, values in prices.items()}
assert averages["Lamp, small"] == 11.75

out = io.StringIO()
writer = csv.DictWriter(out, fieldnames=["region", "revenue"], lineterminator="\n")
writer.writeheader()
for region, total in sorted(revenue.items(), key=lambda kv: kv[1], reverse=True):
    writer.writerow({"region": region, "revenue": f"{total:.2f}"})
assert out.getvalue() == "region,revenue\nnorth,187.50\nsouth,124.00\neast,0.00\n"

plain = io.StringIO()
csv.writer(plain, delimiter=";", quoting=csv.QUOTE_MINIMAL).writerows([["a;b", 1], ['q"', None]])
assert plain.getvalue() == '"a;b";1\r\n"q""";\r\n'
assert list(csv.reader(plain.getvalue().splitlines(), delimiter=";")) == [["a;b", "1"], ['q"', ""]]
"ok"
