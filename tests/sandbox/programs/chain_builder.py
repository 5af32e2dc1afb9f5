from typing import Any, Callable, Dict, Iterable, List


class Query:
    """Fluent queries over lists of dictionaries."""

    def __init__(self, rows: Iterable[Dict[str, Any]]):
        self._rows = list(rows)

    def where(self, predicate: Callable[[Dict], bool] = None, **equals) -> "Query":
        def keep(row):
            return (predicate is None or predicate(row)) and all(row.get(k) == v for k, v in equals.items())

        return Query(filter(keep, self._rows))

    def select(self, *fields: str) -> "Query":
        return Query({f: row.get(f) for f in fields} for row in self._rows)

    def order_by(self, field: str, desc: bool = False) -> "Query":
        return Query(sorted(self._rows, key=lambda r: r[field], reverse=desc))

    def group_by(self, field: str, **aggregates: Callable[[List[Dict]], Any]) -> "Query":
        groups: Dict[Any, List[Dict]] = {}
        for row in self._rows:
            groups.setdefault(row[field], []).append(row)
        return Query({field: key, **{n: f(rows) for n, f in aggregates.items()}} for key, rows in groups.items())

    def __getitem__(self, key):
        return Query(self._rows[key]) if isinstance(key, slice) else self._rows[key]

    def __iter__(self):
        return iter(self._rows)

    def __len__(self):
        return len(self._rows)

    def all(self) -> List[Dict]:
        return list(self)


sales = [
    {"id": 1, "city": "Bern", "amount": 30, "ok": True},
    {"id": 2, "city": "Linz", "amount": 55, "ok": True},
    {"id": 3, "city": "Bern", "amount": 12, "ok": False},
    {"id": 4, "city": "Bern", "amount": 44, "ok": True},
]
top = Query(sales).where(lambda r: r["amount"] > 20, ok=True).order_by("amount", desc=True).select("id")[:2].all()
assert top == [{"id": 2}, {"id": 4}]
totals = Query(sales).group_by("city", total=lambda rs: sum(r["amount"] for r in rs), n=len)
assert totals.all() == [{"city": "Bern", "total": 86, "n": 3}, {"city": "Linz", "total": 55, "n": 1}]
assert len(Query(sales).where(city="Graz")) == 0 and Query(sales)[0]["id"] == 1
"ok"
