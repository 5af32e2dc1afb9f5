from graphlib import CycleError, TopologicalSorter
import weakref
import contextvars
import unicodedata


class Cell:
    """Spreadsheet cell that is computed from others."""

    def __init__(self, sheet, formula):
        self.sheet = sheet
        self.formula = formula

    def needs(self):
        return [t for t in self.formula.split() if t in self.sheet.cells]


class Sheet:
    def __init__(self):
        self.cells = {}

    def __setitem__(self, name, formula):
        self.cells[name] = Cell(self, str(formula))

    def compute(self):
        order = TopologicalSorter({n: c.needs() for n, c in self.cells.items()}).static_order()
        values = {}
        for name in order:
            total = 0
            for term in self.cells[name].formula.split():
                if term != "+":
                    total += values[term] if term in values else int(term)
            values[name] = total
        return values


s = Sheet()
s["total"] = "net + tax"
s["net"] = "40 + 60"
s["tax"] = "net + 5"
assert s.compute() == {"net": 100, "tax": 105, "total": 205}
s["net"] = "total"
try:
    s.compute()
except CycleError as e:
    assert set(e.args[1]) >= {"net", "total"}
user = contextvars.ContextVar("user", default="nobody")
token = user.set("root")
assert user.get() == "root"
user.reset(token)
assert user.get() == "nobody"
assert "".join(c for c in unicodedata.normalize("NFD", "Crème brûlée") if not unicodedata.combining(c)) == "Creme brulee"
ref = weakref.ref(s)
assert ref() is s
"ok"
