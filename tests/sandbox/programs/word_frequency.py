import re
from collections import Counter


def frequencies(text: str, top: int) -> list[tuple[str, int]]:
    words = re.findall(r"[a-z']+", text.lower())
    return sorted(Counter(words).items(), key=lambda item: (-item[1], item[0]))[:top]


assert frequencies("The cat and the hat. The end, and the start!", 2) == [("the", 4), ("and", 2)]
assert frequencies("", 3) == []
assert frequencies("b a b a", 1) == [("a", 2)]

"ok"
