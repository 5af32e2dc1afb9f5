def is_balanced(text: str) -> bool:
    """Whether every bracket is closed by its own kind, in the right order."""
    pairs = {")": "(", "]": "[", "}": "{"}
    stack: list[str] = []
    for char in text:
        if char in pairs.values():
            stack.append(char)
        elif char in pairs and (not stack or stack.pop() != pairs[char]):
            return False
    return not stack


assert is_balanced("")
assert is_balanced("a(b[c]{d})")
assert not is_balanced("(]")
assert not is_balanced("((")
assert not is_balanced(")")

"ok"
