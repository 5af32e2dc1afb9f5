import math


def poly(xs: list, x: float):
    """Evaluate xs[0] + xs[1] * x + ... at the point x."""
    return sum([coeff * math.pow(x, i) for i, coeff in enumerate(xs)])


def find_zero(xs: list) -> float:
    """Find one real root by bisection, widening the bracket until the sign changes."""
    begin, end = -1.0, 1.0
    while poly(xs, begin) * poly(xs, end) > 0:
        begin *= 2.0
        end *= 2.0
    while end - begin > 1e-10:
        center = (begin + end) / 2.0
        if poly(xs, center) * poly(xs, begin) > 0:
            begin = center
        else:
            end = center
    return begin


assert round(find_zero([1, 2]), 2) == -0.5
assert round(find_zero([-6, 11, -6, 1]), 2) in (1.0, 2.0, 3.0)
assert math.isclose(find_zero([-2, 0, 0, 1]), 2 ** (1 / 3), rel_tol=1e-6)
print(f"root of x^3-2: {find_zero([-2, 0, 0, 1]):.6f}")
"ok"
