def justify(words: list[str], width: int) -> list[str]:
    """Full justification: every line but the last fills the width."""
    lines: list[list[str]] = [[]]
    for word in words:
        if sum(map(len, lines[-1])) + len(lines[-1]) + len(word) > width:
            lines.append([])
        lines[-1].append(word)
    result = []
    for line in lines[:-1]:
        if len(line) == 1:
            result.append(line[0].ljust(width))
            continue
        spaces = width - sum(map(len, line))
        share, extra = divmod(spaces, len(line) - 1)
        gaps = [" " * (share + (index < extra)) for index in range(len(line) - 1)] + [""]
        result.append("".join(word + gap for word, gap in zip(line, gaps)))
    return [*result, " ".join(lines[-1]).ljust(width)]


lines = justify(["This", "is", "an", "example", "of", "text", "justification."], 16)
assert lines == ["This    is    an", "example  of text", "justification.  "]
assert all(len(line) == 16 for line in lines)

"ok"
