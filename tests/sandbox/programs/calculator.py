import operator
import re
from collections.abc import Callable

OPERATORS: dict[str, tuple[int, Callable[[float, float], float]]] = {
    "+": (1, operator.add),
    "-": (1, operator.sub),
    "*": (2, operator.mul),
    "/": (2, operator.truediv),
    "^": (3, operator.pow),
}


class Parser:
    def __init__(self, text: str) -> None:
        self.tokens = re.findall(r"\d+\.?\d*|[-+*/^()]", text)

    def peek(self) -> str | None:
        return self.tokens[0] if self.tokens else None

    def atom(self) -> float:
        match self.tokens.pop(0):
            case "(":
                value = self.expression(1)
                assert self.tokens.pop(0) == ")"
                return value
            case "-":
                return -self.atom()
            case number:
                return float(number)

    def expression(self, lowest: int) -> float:
        left = self.atom()
        while (token := self.peek()) in OPERATORS and OPERATORS[token][0] >= lowest:
            self.tokens.pop(0)
            strength, apply = OPERATORS[token]
            right = self.expression(strength + (token != "^"))
            left = apply(left, right)
        return left


def evaluate(text: str) -> float:
    return Parser(text).expression(1)


assert evaluate("1 + 2 * 3") == 7
assert evaluate("(1 + 2) * 3 - 4 / 2") == 7
assert evaluate("2 ^ 3 ^ 2") == 512
assert evaluate("-(2 - 5)") == 3
try:
    evaluate("1 / 0")
except ZeroDivisionError:
    pass
else:
    raise AssertionError("division by zero went unnoticed")

"ok"
