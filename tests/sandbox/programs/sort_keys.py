from operator import attrgetter, itemgetter, methodcaller
from collections import namedtuple

Employee = namedtuple("Employee", ["name", "dept", "salary"], defaults=[0])
staff = [
    Employee("Ruth", "ops", 52),
    Employee("Omar", "dev", 70),
    Employee("alba", "dev", 70),
    Employee("Teo", "ops"),
]
assert [e.name for e in sorted(staff, key=attrgetter("dept", "salary"))] == ["Omar", "alba", "Teo", "Ruth"]
assert [e.name for e in sorted(staff, key=lambda e: (-e.salary, e.name.lower()))] == ["alba", "Omar", "Ruth", "Teo"]
assert sorted(["b", "A", "c"], key=str.lower) == ["A", "b", "c"]
assert sorted(["b", "A"], key=methodcaller("lower"), reverse=True) == ["b", "A"]
rows = [{"k": 2, "v": "x"}, {"k": 1, "v": "y"}]
rows.sort(key=itemgetter("k"))
assert [r["v"] for r in rows] == ["y", "x"]
assert itemgetter(0, 2)("abc") == ("a", "c")
by_value = dict(sorted({"a": 3, "b": 1, "c": 2}.items(), key=lambda item: item[1]))
assert list(by_value) == ["b", "c", "a"]
order = {"high": 0, "medium": 1, "low": 2}
tasks = [("write", "low"), ("fix", "high"), ("plan", "medium")]
assert [t for t, _ in sorted(tasks, key=lambda t: order[t[1]])] == ["fix", "plan", "write"]
files = ["img12.png", "img2.png", "img1.png"]
assert sorted(files, key=lambda f: int("".join(filter(str.isdigit, f)))) == ["img1.png", "img2.png", "img12.png"]
assert min(staff, key=lambda e: e.salary).name == "Teo" and max([], default=None) is None
assert staff[0]._replace(salary=60).salary == 60 and Employee._make(["Z", "hr", 1])._asdict()["dept"] == "hr"
assert Employee(**{"name": "K", "dept": "it"}).salary == 0
"ok"
