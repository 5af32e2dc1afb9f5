import re
from typing import List, NamedTuple


class Token(NamedTuple):
    kind: str
    text: str


TOKEN_RE = re.compile(
    r"""
    (?P<NUM>\d+(\.\d+)?)   # integer or decimal
  | (?P<OP>[-+*/^()])      # operators
  | (?P<WS>\s+)            # blanks
  | (?P<BAD>.)             # anything else
    """,
    re.VERBOSE,
)


def tokenize(text: str) -> List[Token]:
    tokens = []
    for m in TOKEN_RE.finditer(text):
        kind = m.lastgroup
        if kind == "WS":
            continue
        if kind == "BAD":
            raise SyntaxError(f"unexpected {m.group()!r} at {m.start()}")
        tokens.append(Token(kind, m.group()))
    return tokens + [Token("END", "")]


class Parser:
    def __init__(self, text: str):
        self.tokens = tokenize(text)
        self.pos = 0

    def _peek(self) -> str:
        return self.tokens[self.pos].text

    def _next(self) -> Token:
        token = self.tokens[self.pos]
        self.pos += 1
        return token

    def expr(self) -> float:
        value = self.term()
        while self._peek() in ("+", "-"):
            op = self._next().text
            rhs = self.term()
            value = value + rhs if op == "+" else value - rhs
        return value

    def term(self) -> float:
        value = self.factor()
        while self._peek() in ("*", "/"):
            if self._next().text == "*":
                value *= self.factor()
            else:
                value /= self.factor()
        return value

    def factor(self) -> float:
        if self._peek() == "-":
            self._next()
            return -self.factor()
        token = self._next()
        if token.text == "(":
            value = self.expr()
            assert self._next().text == ")", "missing )"
        elif token.kind == "NUM":
            value = float(token.text)
        else:
            raise SyntaxError(f"unexpected {token.text or 'end'}")
        if self._peek() == "^":
            self._next()
            value **= self.factor()
        return value


assert Parser("2 + 3 * (4 - 1) ^ 2").expr() == 29.0
assert Parser("-2.5 * -(4 / 2)").expr() == 5.0
for bad in ("2 $ 3", "2 +"):
    try:
        Parser(bad).expr()
    except SyntaxError as e:
        assert "unexpected" in e.msg
    else:
        assert False, bad
"ok"
