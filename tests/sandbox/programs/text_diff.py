import difflib
from difflib import SequenceMatcher, get_close_matches

old = """alpha
beta
gamma
delta""".splitlines()
new = """alpha
beta!
gamma
epsilon
delta""".splitlines()


def levenshtein(a: str, b: str) -> int:
    previous = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        current = [i]
        for j, cb in enumerate(b, 1):
            current.append(min(previous[j] + 1, current[-1] + 1, previous[j - 1] + (ca != cb)))
        previous = current
    return previous[-1]


def suggest(word, known):
    hits = get_close_matches(word, known, n=1, cutoff=0.6)
    return f"did you mean {hits[0]!r}?" if hits else "no idea"


diff = list(difflib.unified_diff(old, new, "a.txt", "b.txt", lineterm=""))
assert diff[0] == "--- a.txt" and "-beta" in diff and "+beta!" in diff and "+epsilon" in diff
assert sum(line.startswith("+") and not line.startswith("+++") for line in diff) == 2
ratio = SequenceMatcher(None, "night", "nacht").ratio()
assert round(ratio, 2) == 0.6
assert suggest("instal", ["install", "remove", "list"]) == "did you mean 'install'?"
assert suggest("zzz", ["install"]) == "no idea"
assert levenshtein("kitten", "sitting") == 3 and levenshtein("", "abc") == 3
ops = [(tag, old[i1:i2], new[j1:j2]) for tag, i1, i2, j1, j2 in SequenceMatcher(a=old, b=new).get_opcodes() if tag != "equal"]
assert ops == [("replace", ["beta"], ["beta!"]), ("insert", [], ["epsilon"])]
"ok"
