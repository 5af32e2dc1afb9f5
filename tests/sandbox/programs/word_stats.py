from collections import Counter
import re
import string

TEXT = """It was a bright cold day in April, and the clocks of the town were late.
The town, the clocks said, was late; nobody in the town believed the clocks!"""


def normalize(text: str) -> list:
    table = str.maketrans("", "", string.punctuation)
    return text.lower().translate(table).split()


def summary(text: str) -> dict:
    words = normalize(text)
    counts = Counter(words)
    sentences = [s for s in re.split(r"[.!?]+", text) if s.strip()]
    return {
        "words": len(words),
        "unique": len(counts),
        "top": counts.most_common(2),
        "longest": max(words, key=lambda w: (len(w), w)),
        "avg_len": round(sum(map(len, words)) / len(words), 2),
        "sentences": len(sentences),
        "hapax": sorted(w for w, n in counts.items() if n == 1)[:3],
    }


def bigrams(words):
    return Counter(zip(words, words[1:]))


stats = summary(TEXT)
assert stats["words"] == 30 and stats["sentences"] == 2
assert stats["top"] == [("the", 6), ("clocks", 3)]
assert stats["longest"] == "believed"
assert stats["hapax"] == ["a", "and", "april"]
assert bigrams(normalize(TEXT))["the", "clocks"] == 3
letters = Counter(c for c in TEXT.lower() if c.isalpha())
total = sum(letters.values())
for letter, n in letters.most_common(5):
    print(f"{letter} {n:3d} {n / total:6.2%} {'*' * (n // 2)}")
assert (Counter("hello") & Counter("yellow")) == Counter({"l": 2, "e": 1, "o": 1})
c = Counter(a=3)
c.update("aab")
c.subtract({"b": 2})
assert c["a"] == 5 and c["b"] == -1 and +c == Counter(a=5) and sorted(c.elements()) == ["a"] * 5
"ok"
