import operator
from typing import List, Union

OPS = {
    "+": (1, operator.add),
    "-": (1, operator.sub),
    "*": (2, operator.mul),
    "/": (2, operator.truediv),
    "%": (2, operator.mod),
    "**": (3, operator.pow),
}


def to_rpn(expression: str) -> List[str]:
    """Shunting yard over blank-separated tokens."""
    output: List[str] = []
    stack: List[str] = []
    for token in expression.replace("(", " ( ").replace(")", " ) ").split():
        if token in OPS:
            while stack and stack[-1] in OPS and (
                OPS[stack[-1]][0] > OPS[token][0] or (OPS[stack[-1]][0] == OPS[token][0] and token != "**")
            ):
                output.append(stack.pop())
            stack.append(token)
        elif token == "(":
            stack.append(token)
        elif token == ")":
            while (top := stack.pop()) != "(":
                output.append(top)
        else:
            output.append(token)
    return output + stack[::-1]


def evaluate(rpn: List[str]) -> Union[int, float]:
    stack: list = []
    for token in rpn:
        try:
            stack.append(float(token))
        except ValueError:
            b, a = stack.pop(), stack.pop()
            stack.append(OPS[token][1](a, b))
    if len(stack) != 1:
        raise ValueError("malformed expression")
    return stack[0]


def calc(text: str):
    try:
        return evaluate(to_rpn(text))
    except ZeroDivisionError:
        return "division by zero"
    except (IndexError, KeyError, ValueError) as e:
        return f"error: {type(e).__name__}"


assert to_rpn("3 + 4 * 2 / ( 1 - 5 ) ** 2") == "3 4 2 * 1 5 - 2 ** / +".split()
assert calc("3 + 4 * 2 / (1 - 5) ** 2") == 3.5 and calc("2 ** 3 ** 2") == 512.0
assert calc("1 / 0") == "division by zero" and calc("1 +") == "error: IndexError" and calc("1 2") == "error: ValueError"
"ok"
