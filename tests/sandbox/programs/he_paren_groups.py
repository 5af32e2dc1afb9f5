from typing import List


def split_groups(text: str) -> List[str]:
    """Cut a string of balanced parentheses into its top-level groups, dropping blanks."""
    groups: List[str] = []
    current = []
    depth = 0
    for char in text:
        if char == "(":
            depth += 1
            current.append(char)
        elif char == ")":
            depth -= 1
            current.append(char)
            if depth == 0:
                groups.append("".join(current))
                current.clear()
    return groups


def max_depth(group: str) -> int:
    best = depth = 0
    for ch in group:
        depth += {"(": 1, ")": -1}.get(ch, 0)
        best = max(best, depth)
    return best


assert split_groups("(()) () (()(()))") == ["(())", "()", "(()(()))"]
assert split_groups("") == []
assert [max_depth(g) for g in split_groups("(()) () (()(()))")] == [2, 1, 3]
"ok"
