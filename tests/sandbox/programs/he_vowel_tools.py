import string


def encode_message(message: str) -> str:
    """Swap the case of each letter and move each vowel two letters on."""
    vowels = "aeiouAEIOU"
    moved = {v: chr(ord(v) + 2) for v in vowels}
    swapped = message.swapcase()
    return "".join(moved[c] if c in vowels else c for c in swapped)


def count_vowels(text: str) -> int:
    """Vowels of a word; a closing 'y' is one too."""
    total = sum(ch in "aeiou" for ch in text.lower())
    if text and text[-1] in "yY":
        total += 1
    return total


def remove_vowels(text):
    return text.translate(str.maketrans("", "", "aeiouAEIOU"))


assert encode_message("test") == "TGST"
assert encode_message("This is") == "tHKS KS"
assert count_vowels("sky") == 1
assert count_vowels("Academy") == 4
assert remove_vowels("Umbrella stand\n") == "mbrll stnd\n"
assert remove_vowels(string.ascii_lowercase) == "bcdfghjklmnpqrstvwxyz"
"ok"
