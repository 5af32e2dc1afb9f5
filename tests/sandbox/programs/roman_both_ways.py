ROMAN = [
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"),
    (100, "C"), (90, "XC"), (50, "L"), (40, "XL"),
    (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
]


def int_to_roman(num: int) -> str:
    """Convert a number to lower-case roman digits.

    >>> int_to_roman(19)
    'xix'
    """
    if not 0 < num < 4000:
        raise ValueError(f"{num} is out of range")
    result = ""
    for value, symbol in ROMAN:
        times, num = divmod(num, value)
        result += symbol * times
    return result.lower()


def roman_to_int(text: str) -> int:
    values = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
    total = 0
    prev = 0
    for ch in reversed(text.lower()):
        v = values[ch]
        total = total - v if v < prev else total + v
        prev = v
    return total


def to_base(n: int, base: int) -> str:
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    if n == 0:
        return "0"
    sign, n = ("-", -n) if n < 0 else ("", n)
    out = []
    while n:
        n, r = divmod(n, base)
        out.append(digits[r])
    return sign + "".join(reversed(out))


assert int_to_roman(1994) == "mcmxciv"
assert all(roman_to_int(int_to_roman(n)) == n for n in range(1, 4000, 7))
try:
    int_to_roman(4000)
except ValueError as e:
    assert "out of range" in str(e)
assert to_base(255, 16) == "ff" and to_base(-10, 2) == "-1010" and int(to_base(12345, 36), 36) == 12345
"ok"
