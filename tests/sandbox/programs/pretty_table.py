from typing import Any, Sequence


def format_table(headers: Sequence[str], rows: Sequence[Sequence[Any]], align: str = "") -> str:
    """Draw rows as a text table; ``align`` holds one of < > ^ per column."""
    cells = [[str(c) if not isinstance(c, float) else f"{c:,.2f}" for c in row] for row in rows]
    widths = [max(len(h), *(len(r[i]) for r in cells)) for i, h in enumerate(headers)]
    align = align.ljust(len(headers), "<")

    def line(parts):
        return "| " + " | ".join(f"{p:{a}{w}}" for p, a, w in zip(parts, align, widths)) + " |"

    rule = "+" + "+".join("-" * (w + 2) for w in widths) + "+"
    body = [line(row) for row in cells]
    return "\n".join([rule, line(headers), rule, *body, rule])


table = format_table(["City", "People", "Area"], [["Oslo", 709037, 480.75], ["Rome", 2748109, 1287.36]], "<>^")
print(table)
assert table.split("\n") == [
    "+------+---------+----------+",
    "| City |  People |   Area   |",
    "+------+---------+----------+",
    "| Oslo |  709037 |  480.75  |",
    "| Rome | 2748109 | 1,287.36 |",
    "+------+---------+----------+",
]
assert "{:>8}|{:^8}|{:<8}".format("r", "c", "l") == "       r|   c    |l       "
assert "{0}-{1}-{0}".format("a", "b") == "a-b-a"
assert "{name!r:>{width}}".format(name="x", width=6) == "   'x'"
assert "{p[x]} {q[0]} {r.real}".format(p={"x": 1}, q=[2], r=3) == "1 2 3"
assert "%-6s|%5.1f|%03d|%x|%%" % ("ab", 3.14159, 7, 255) == "ab    |  3.1|007|ff|%"
assert "%(k)s=%(v)r" % {"k": "key", "v": "val"} == "key='val'"
assert f"{1234567.891:,.1f} {0.256:.1%} {255:#x} {5:+d} {1e-7:.2e}" == "1,234,567.9 25.6% 0xff +5 1.00e-07"
value = 17
assert f"{value=} {value * 2 = }" == "value=17 value * 2 = 34"
"ok"
