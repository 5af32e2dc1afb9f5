import string
from itertools import cycle


def shift(char: str, by: int) -> str:
    for alphabet in (string.ascii_lowercase, string.ascii_uppercase):
        if char in alphabet:
            return alphabet[(alphabet.index(char) + by) % 26]
    return char


def caesar(text: str, by: int) -> str:
    return "".join(shift(char, by) for char in text)


def vigenere(text: str, key: str, sign: int = 1) -> str:
    keys = cycle(key.lower())
    return "".join(shift(c, sign * string.ascii_lowercase.index(next(keys))) if c.isalpha() else c for c in text)


assert caesar("Hello, World!", 3) == "Khoor, Zruog!"
assert caesar(caesar("abc xyz", 5), -5) == "abc xyz"
assert vigenere("ATTACK AT DAWN", "lemon") == "LXFOPV EF RNHR"
assert vigenere(vigenere("Attack!", "key"), "key", -1) == "Attack!"

"ok"
