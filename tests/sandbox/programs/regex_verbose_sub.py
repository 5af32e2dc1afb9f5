import re

PRICE = re.compile(
    r"""
    (?P<currency>[$€£])      # symbol
    \s*
    (?P<whole>\d{1,3}(?:,\d{3})*|\d+)
    (?:\.(?P<cents>\d{2}))?  # optional cents
    """,
    re.VERBOSE,
)

RATES = {"$": 1.0, "€": 1.1, "£": 1.25}


def to_dollars(match: re.Match) -> str:
    whole = int(match["whole"].replace(",", ""))
    cents = int(match["cents"] or 0)
    return f"${(whole + cents / 100) * RATES[match['currency']]:,.2f}"


def redact(text, *, mask="*"):
    text = re.sub(r"(?i)(password\s*[:=]\s*)(\S+)", lambda m: m.group(1) + mask * len(m.group(2)), text)
    return re.sub(r"\b(\d{4})[- ]?\d{4}[- ]?\d{4}[- ]?(\d{4})\b", rf"\1-{mask * 4}-{mask * 4}-\2", text)


assert PRICE.sub(to_dollars, "pay £1,200.50 or € 10") == "pay $1,500.62 or $11.00"
assert PRICE.search("nothing") is None
assert redact("Password: hunter2 card 1111222233334444") == "Password: ******* card 1111-****-****-4444"
m = PRICE.match("$5.25")
assert m.groups() == ("$", "5", "25") and m.span("cents") == (3, 5) and m.group("currency", "whole") == ("$", "5")
assert m.groupdict()["cents"] == "25" and m.expand(r"\g<whole>") == "5"
text, n = re.subn(r"\s+", " ", "a  b\t\nc")
assert (text, n) == ("a b c", 2)
assert re.findall(r"(?<=#)\w+", "#one two #three") == ["one", "three"]
assert re.match(r"(\w)(\w)?", "a").groups(default="-") == ("a", "-")
assert re.findall(r"^\w+", "one\ntwo", re.MULTILINE | re.IGNORECASE) == ["one", "two"]
assert re.escape("a.b*c") == r"a\.b\*c" and re.compile("x").pattern == "x"
try:
    re.compile("(unclosed")
except re.error as e:
    assert e.pos == 0
"ok"
