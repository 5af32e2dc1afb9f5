def count_upper(s):
    return sum(1 for c in s if c.isupper())


def split_words(sentence, n):
    return [w for w in sentence.split() if len(w) >= n]


def remove_occurrence(s, ch):
    """Drop the first and the last ``ch``."""
    first = s.find(ch)
    if first == -1:
        return s
    s = s[:first] + s[first + 1 :]
    last = s.rfind(ch)
    return s if last == -1 else s[:last] + s[last + 1 :]


def is_pangram(text):
    return set("abcdefghijklmnopqrstuvwxyz") <= set(text.lower())


def chunks(s, n):
    return [s[i : i + n] for i in range(0, len(s), n)]


assert count_upper("PYthON") == 4
assert split_words("a list of longer words", 4) == ["list", "longer", "words"]
assert remove_occurrence("hello", "l") == "heo" and remove_occurrence("abc", "z") == "abc"
assert is_pangram("Sphinx of black quartz, judge my vow")
assert chunks("abcdefg", 3) == ["abc", "def", "g"]
assert "a,b,,c".split(",") == ["a", "b", "", "c"]
assert "k=v=w".partition("=") == ("k", "=", "v=w") and "k=v=w".rpartition("=") == ("k=v", "=", "w")
assert "7".zfill(3) == "007" and "x".center(5, "*") == "**x**" and "x".ljust(3, ".") + "|" == "x..|"
assert "report.tar.gz".removesuffix(".gz").removeprefix("report") == ".tar"
assert "one\ntwo\r\nthree".splitlines() == ["one", "two", "three"]
assert "they're bill's".title() == "They'Re Bill'S" and "ABC".casefold() == "abc"
assert "banana".count("an") == 2 and "banana".index("n") == 2 and "abc".islower()
assert "a\tb".expandtabs(4) == "a   b" and "  pad ".strip() == "pad" and "xxhixx".strip("x") == "hi"
assert "12".isdigit() and "ab1".isalnum() and "ab".isalpha() and not "".isspace() and "id_1".isidentifier()
"ok"
