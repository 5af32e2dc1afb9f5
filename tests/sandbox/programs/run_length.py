from itertools import groupby


def encode(text: str) -> list[tuple[str, int]]:
    return [(char, len(list(group))) for char, group in groupby(text)]


def decode(runs: list[tuple[str, int]]) -> str:
    return "".join(char * count for char, count in runs)


assert encode("aaabccd") == [("a", 3), ("b", 1), ("c", 2), ("d", 1)]
assert decode(encode("hello wooorld")) == "hello wooorld"
assert encode("") == []

"ok"
