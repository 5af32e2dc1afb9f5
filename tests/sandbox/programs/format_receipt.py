items = [("Coffee beans", 2, 11.5), ("Filter", 10, 0.35), ("Mug, blue", 1, 8)]
TAX = 0.19

lines = []
lines.append("{:=^32}".format(" RECEIPT "))
subtotal = 0
for name, qty, price in items:
    amount = qty * price
    subtotal += amount
    lines.append("{name:<16.14}{qty:>4d} x{price:>10.2f}".format(name=name, qty=qty, price=price))
lines.append("-" * 32)
for label, value in (("Subtotal", subtotal), ("Tax", subtotal * TAX), ("Total", subtotal * (1 + TAX))):
    lines.append("%-16s%16s" % (label, format(value, ",.2f")))
print("\n".join(lines))
assert lines[0] == "=========== RECEIPT ============"
assert lines[1] == "Coffee beans       2 x     11.50"
assert lines[-1] == "Total                      41.05"
assert all(len(line) == 32 for line in lines)


class Money:
    def __init__(self, cents):
        self.cents = cents

    def __format__(self, spec):
        if spec == "short":
            return f"{self.cents // 100}"
        return format(self.cents / 100, spec or ".2f")


assert f"{Money(1999)}|{Money(1999):short}|{Money(1999):>8.1f}" == "19.99|19|    20.0"
assert "{0:{fill}{align}{width}}".format("mid", fill="*", align="^", width=9) == "***mid***"
assert "{:08.3f} {:e} {:b} {:o} {:X} {:c}".format(3.14159, 1234.5, 10, 8, 255, 65) == "0003.142 1.234500e+03 1010 10 FF A"
assert "{:,} {:_} {:.0%}".format(1234567, 1234567, 0.5) == "1,234,567 1_234_567 50%"
assert "%5s|%-5s|%05.1f|%+d|%r|%c" % ("a", "b", 2.25, 3, "q", "z") == "    a|b    |002.2|+3|'q'|z"
assert "{a} {b}".format_map({"a": 1, "b": 2}) == "1 2" and f"{'x':>3}{'{}'}" == "  x{}"
assert f"{[n ** 2 for n in range(3)]!s:>12}" == "   [0, 1, 4]"
"ok"
