import html
import re
from typing import List

RULES = [
    (re.compile(r"\*\*(.+?)\*\*"), r"<b>\1</b>"),
    (re.compile(r"\*(.+?)\*"), r"<i>\1</i>"),
    (re.compile(r"`(.+?)`"), r"<code>\1</code>"),
    (re.compile(r"\[([^\]]+)\]\(([^)]+)\)"), r'<a href="\2">\1</a>'),
]


def inline(text: str) -> str:
    text = html.escape(text, quote=False)
    for pattern, replacement in RULES:
        text = pattern.sub(replacement, text)
    return text


def convert(source: str) -> str:
    out: List[str] = []
    in_list = False
    for raw in source.strip().splitlines():
        line = raw.rstrip()
        if m := re.match(r"^\s*[-*]\s+(.*)", line):
            if not in_list:
                out.append("<ul>")
                in_list = True
            out.append(f"<li>{inline(m[1])}</li>")
            continue
        if in_list:
            out.append("</ul>")
            in_list = False
        if not line:
            continue
        elif heading := re.match(r"(#{1,6}) (.+)", line):
            level = len(heading.group(1))
            out.append("<h{0}>{1}</h{0}>".format(level, inline(heading.group(2))))
        else:
            out.append("<p>%s</p>" % inline(line))
    if in_list:
        out.append("</ul>")
    return "\n".join(out)


DOC = """
# Title & more

Some **bold** and *soft* text with `code < 1`.

- item one
- [link](http://x.y)
"""
assert convert(DOC).split("\n") == [
    "<h1>Title &amp; more</h1>",
    "<p>Some <b>bold</b> and <i>soft</i> text with <code>code &lt; 1</code>.</p>",
    "<ul>",
    "<li>item one</li>",
    '<li><a href="http://x.y">link</a></li>',
    "</ul>",
]
"ok"
