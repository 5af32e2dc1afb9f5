NUMERALS = [
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
]


def to_roman(number: int) -> str:
    result = ""
    for value, letters in NUMERALS:
        count, number = divmod(number, value)
        result += letters * count
    return result


def from_roman(text: str) -> int:
    values = dict((letters, value) for value, letters in NUMERALS)
    total = 0
    for here, after in zip(text, text[1:] + " "):
        value = values[here]
        total += -value if values.get(after, 0) > value else value
    return total


assert to_roman(1994) == "MCMXCIV"
assert from_roman("MMXXIV") == 2024
assert all(from_roman(to_roman(n)) == n for n in range(1, 4000, 7))

"ok"
