import string
import textwrap
from string import Formatter, Template, ascii_letters, ascii_uppercase, capwords, digits, punctuation


def justify(words, width):
    """Fill lines by spreading blanks between words."""
    lines, current, length = [], [], 0
    for word in words:
        if length + len(word) + len(current) > width:
            gaps = max(len(current) - 1, 1)
            for i in range(width - length):
                current[i % gaps] += " "
            lines.append("".join(current))
            current, length = [], 0
        current.append(word)
        length += len(word)
    return lines + [" ".join(current).ljust(width)]


def strength(pw):
    checks = [
        len(pw) >= 8,
        any(c in ascii_uppercase for c in pw),
        any(c in digits for c in pw),
        any(c in punctuation for c in pw),
    ]
    return ["none", "weak", "fair", "good", "strong"][sum(checks)]


assert justify("this is an example of text".split(), 12) == ["this  is  an", "example   of", "text        "]
assert strength("abc") == "none" and strength("Tr0ub4dor&3") == "strong"
assert capwords("the qUICK fox") == "The Quick Fox"
assert len(ascii_letters) == 52 and string.hexdigits.startswith("0123")
assert textwrap.fill("aaa bbb ccc ddd", width=8) == "aaa bbb\nccc ddd"
assert textwrap.shorten("a long line of words", 12, placeholder="…") == "a long line…"
doc = textwrap.dedent(
    """\
    first
      second
    """
)
assert doc == "first\n  second\n" and textwrap.indent("a\nb", "> ") == "> a\n> b"
assert Template("$a and ${b}c").substitute({"a": 1}, b=2) == "1 and 2c"
try:
    Template("$x").substitute()
except KeyError as e:
    assert e.args[0] == "x"
assert [name for _, name, _, _ in Formatter().parse("{a} {b:>3}") if name] == ["a", "b"]
"ok"
