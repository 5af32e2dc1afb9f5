from dataclasses import dataclass
from typing import Dict, Union


@dataclass(frozen=True)
class Num:
    value: float


@dataclass(frozen=True)
class Var:
    name: str


@dataclass(frozen=True)
class BinOp:
    op: str
    left: "Expr"
    right: "Expr"


Expr = Union[Num, Var, BinOp]


class Visitor:
    def visit(self, node):
        method = getattr(self, "visit_" + type(node).__name__.lower(), None)
        if method is None:
            raise NotImplementedError(f"no visitor for {node.__class__.__name__}")
        return method(node)


class Evaluator(Visitor):
    def __init__(self, env: Dict[str, float]):
        self.env = env

    def visit_num(self, node):
        return node.value

    def visit_var(self, node):
        return self.env[node.name]

    def visit_binop(self, node):
        left, right = self.visit(node.left), self.visit(node.right)
        return {"+": left + right, "*": left * right, "-": left - right}[node.op]


class Printer(Visitor):
    visit_num = staticmethod(lambda node: f"{node.value:g}")
    visit_var = staticmethod(lambda node: node.name)

    def visit_binop(self, node):
        return f"({self.visit(node.left)} {node.op} {self.visit(node.right)})"


def simplify(e: Expr) -> Expr:
    match e:
        case BinOp("+", Num(0), x) | BinOp("+", x, Num(0)):
            return simplify(x)
        case BinOp("*", Num(0), _) | BinOp("*", _, Num(0)):
            return Num(0)
        case BinOp("*", Num(1), x) | BinOp("*", x, Num(1)):
            return simplify(x)
        case BinOp(op, l, r) if (l2 := simplify(l), r2 := simplify(r)) != (l, r):
            return simplify(BinOp(op, l2, r2))
    return e


tree = BinOp("+", BinOp("*", Num(2), Var("x")), BinOp("*", Num(0), Var("y")))
assert Evaluator({"x": 5, "y": 9}).visit(tree) == 10
assert Printer().visit(tree) == "((2 * x) + (0 * y))"
assert simplify(tree) == BinOp("*", Num(2), Var("x"))
try:
    Printer().visit("text")
except NotImplementedError as e:
    assert str(e) == "no visitor for str"
"ok"
