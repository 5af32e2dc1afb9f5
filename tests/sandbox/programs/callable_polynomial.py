from itertools import zip_longest


class Polynomial:
    def __init__(self, *coefficients):
        """Highest power first."""
        self.coefficients = list(coefficients)

    def __call__(self, x):
        result = 0
        for c in self.coefficients:
            result = result * x + c
        return result

    def degree(self):
        return len(self.coefficients) - 1

    def derivative(self):
        n = self.degree()
        return Polynomial(*[c * (n - i) for i, c in enumerate(self.coefficients[:-1])])

    def __add__(self, other):
        pairs = zip_longest(self.coefficients[::-1], other.coefficients[::-1], fillvalue=0)
        return Polynomial(*[a + b for a, b in pairs][::-1])

    def __mul__(self, other):
        out = [0] * (self.degree() + other.degree() + 1)
        for i, a in enumerate(self.coefficients):
            for j, b in enumerate(other.coefficients):
                out[i + j] += a * b
        return Polynomial(*out)

    def __str__(self):
        parts = []
        for power, c in zip(range(self.degree(), -1, -1), self.coefficients):
            if not c:
                continue
            var = "" if power == 0 else "x" if power == 1 else f"x^{power}"
            size = "" if abs(c) == 1 and var else str(abs(c))
            parts.append(("-" if c < 0 else "+") + size + var)
        return "".join(parts).lstrip("+") or "0"


p = Polynomial(1, -3, 2)
assert p(0) == 2 and p(1) == p(2) == 0
assert str(p) == "x^2-3x+2" and str(p.derivative()) == "2x-3"
assert str(p + Polynomial(3, 0)) == "x^2+2"
assert (Polynomial(1, 1) * Polynomial(1, -1)).coefficients == [1, 0, -1]
assert callable(p) and list(map(p, range(4))) == [2, 0, 0, 2]
"ok"
