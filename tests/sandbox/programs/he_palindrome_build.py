def is_palindrome(text: str) -> bool:
    """Check whether text reads the same in both directions."""
    return text == text[::-1]


def make_palindrome(text: str) -> str:
    """Shortest palindrome that starts with ``text``.

    >>> make_palindrome('abc')
    'abcba'
    """
    if not text:
        return ""
    start = 0
    while not is_palindrome(text[start:]):
        start += 1
    return text + text[:start][::-1]


def longest_inside(text: str) -> str:
    best = ""
    for center in range(len(text)):
        for lo, hi in ((center, center), (center, center + 1)):
            while lo >= 0 and hi < len(text) and text[lo] == text[hi]:
                lo -= 1
                hi += 1
            if hi - lo - 1 > len(best):
                best = text[lo + 1 : hi]
    return best


assert make_palindrome("abc") == "abcba"
assert make_palindrome("xyx") == "xyx"
assert make_palindrome("jerry") == "jerryrrej"
assert make_palindrome("") == ""
assert longest_inside("forgeeksskeegfor") == "geeksskeeg"
"ok"
