import doctest


def gcd(a: int, b: int) -> int:
    """Greatest common divisor.

    >>> gcd(48, 18)
    6
    >>> gcd(7, 0)
    7
    >>> [gcd(12, n) for n in range(1, 5)]
    [1, 2, 3, 4]
    """
    while b:
        a, b = b, a % b
    return a


def examples(func):
    """The (source, wanted) pairs of a docstring."""
    parser = doctest.DocTestParser()
    return [(e.source.strip(), e.want.strip()) for e in parser.get_examples(func.__doc__)]


found = examples(gcd)
assert len(found) == 3 and found[0] == ("gcd(48, 18)", "6")
assert gcd(48, 18) == 6 and gcd(7, 0) == 7
assert gcd.__doc__.splitlines()[0] == "Greatest common divisor."
"ok"
