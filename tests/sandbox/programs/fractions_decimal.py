from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, getcontext, localcontext
from fractions import Fraction
import math


def money(value) -> Decimal:
    return Decimal(str(value)).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


def split_bill(total: str, people: int):
    share = (Decimal(total) / people).quantize(Decimal("0.01"))
    shares = [share] * people
    shares[-1] += Decimal(total) - sum(shares)
    return shares


def egyptian(frac: Fraction):
    parts = []
    while frac:
        unit = Fraction(1, math.ceil(1 / frac))
        parts.append(unit)
        frac -= unit
    return parts


assert money(2.675) == Decimal("2.68") and str(money("1")) == "1.00"
assert 0.1 + 0.2 != 0.3 and Decimal("0.1") + Decimal("0.2") == Decimal("0.3")
assert split_bill("100.00", 3) == [Decimal("33.33"), Decimal("33.33"), Decimal("33.34")]
with localcontext() as ctx:
    ctx.prec = 5
    assert str(Decimal(1) / Decimal(7)) == "0.14286"
getcontext().prec = 28
assert str(Decimal(2).sqrt())[:10] == "1.41421356"
try:
    Decimal("abc")
except InvalidOperation:
    pass
assert Fraction(3, 4) + Fraction("1/6") == Fraction(11, 12)
assert egyptian(Fraction(4, 13)) == [Fraction(1, 4), Fraction(1, 18), Fraction(1, 468)]
f = Fraction(0.75)
assert (f.numerator, f.denominator) == (3, 4) and float(f) == 0.75 and str(-f) == "-3/4"
assert Fraction(math.pi).limit_denominator(100) == Fraction(311, 99)
assert sum([Fraction(1, n) for n in range(1, 5)]) == Fraction(25, 12)
"ok"
