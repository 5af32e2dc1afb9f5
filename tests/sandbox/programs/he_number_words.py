def sort_number_words(line: str) -> str:
    """Order number words ('zero' .. 'nine') from small to large."""
    value_map = {
        "zero": 0,
        "one": 1,
        "two": 2,
        "three": 3,
        "four": 4,
        "five": 5,
        "six": 6,
        "seven": 7,
        "eight": 8,
        "nine": 9,
    }
    return " ".join(sorted([w for w in line.split(" ") if w], key=lambda w: value_map[w]))


_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def say(n: int) -> str:
    if n < 20:
        return _ONES[n]
    if n < 100:
        tens, rest = divmod(n, 10)
        return _TENS[tens] + (f"-{_ONES[rest]}" if rest else "")
    if n < 1000:
        hundreds, rest = divmod(n, 100)
        return _ONES[hundreds] + " hundred" + (" and " + say(rest) if rest else "")
    thousands, rest = divmod(n, 1000)
    return say(thousands) + " thousand" + (" " + say(rest) if rest else "")


assert sort_number_words("five zero nine two") == "zero two five nine"
assert sort_number_words("") == ""
assert say(0) == "zero" and say(42) == "forty-two"
assert say(319) == "three hundred and nineteen"
assert say(12_007) == "twelve thousand seven"
"ok"
