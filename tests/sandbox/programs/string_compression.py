from itertools import groupby, takewhile
import re


def rle(text: str) -> str:
    return "".join(f"{len(list(g))}{ch}" for ch, g in groupby(text))


def unrle(text: str) -> str:
    return re.sub(r"(\d+)(\D)", lambda m: m.group(2) * int(m.group(1)), text)


def lz78(text: str):
    table, out, phrase = {"": 0}, [], ""
    for ch in text:
        if phrase + ch in table:
            phrase += ch
        else:
            out.append((table[phrase], ch))
            table[phrase + ch] = len(table)
            phrase = ""
    if phrase:
        out.append((table[phrase[:-1]], phrase[-1]))
    return out


def unlz78(pairs):
    table = [""]
    for index, ch in pairs:
        table.append(table[index] + ch)
    return "".join(table)


def is_rotation(a, b):
    return len(a) == len(b) and b in a + a


def first_unique(text):
    return next((c for c in text if text.count(c) == 1), None)


def longest_without_repeat(text):
    start, best, last = 0, 0, {}
    for i, ch in enumerate(text):
        if ch in last and last[ch] >= start:
            start = last[ch] + 1
        last[ch] = i
        best = max(best, i - start + 1)
    return best


assert rle("aaabccd") == "3a1b2c1d" and unrle("3a1b12c") == "aaab" + "c" * 12
sample = "abababababcabababc"
assert unlz78(lz78(sample)) == sample and len(lz78(sample)) < len(sample)
assert is_rotation("waterbottle", "erbottlewat") and not is_rotation("ab", "abc")
assert first_unique("swiss") == "w" and first_unique("aabb") is None
assert longest_without_repeat("abcabcbb") == 3 and longest_without_repeat("") == 0
common = "".join(c[0] for c in takewhile(lambda t: len(set(t)) == 1, zip("flower", "flow", "flight")))
assert common == "fl"
"ok"
