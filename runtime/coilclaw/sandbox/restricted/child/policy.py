"""What of Python a snippet may say, and how the parts that need a guard are rewritten.

RestrictedPython's transformer knows every node of the grammar and refuses those it does not know. This
subclass admits more of the language and guards less of it: the sandbox holds no object of the host, so
items, iteration and plain attributes need no guard. What does: attributes that start with an underscore,
a few plain names, attribute writes, class definitions and imports.

Guards are called by names that no source can spell. No binding, of whatever kind, can replace them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from RestrictedPython.transformer import RestrictingNodeTransformer

from coilclaw.sandbox.restricted.child import special_names as names
from coilclaw.sandbox.restricted.child.ownership import OWN_CLASS

__all__ = ["GET", "KIND", "PRIVATE", "TITLED", "WRITABLE", "Problem", "SnippetPolicy", "check_program"]

GET: Final = "guard: get"
KIND: Final = "guard: kind"
PRIVATE: Final = "guard: private"
TITLED: Final = "guard: titled"
WRITABLE: Final = "guard: writable"

_Positioned = TypeVar("_Positioned", bound=ast.expr)
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_AS_THEY_ARE: Final = tuple(
    getattr(ast, name)
    for name in (
        "Module Name Subscript AnnAssign NamedExpr For AsyncFor comprehension With AsyncWith Await "
        "ExceptHandler Nonlocal Import Match match_case MatchValue MatchSingleton MatchSequence MatchMapping "
        "MatchStar MatchAs MatchOr TypeAlias TypeVar ParamSpec TypeVarTuple"
    ).split()
    if hasattr(ast, name)  # Type parameters are younger than the oldest Python this runs on.
)
"""What RestrictedPython refuses or guards and a snippet may simply have: its contents are still checked."""

_NO_CODE_FROM_TEXT: Final = "write the code out in the snippet, or parse data with json.loads or ast.literal_eval"
_REFUSED_CALLS: Final = {
    "exec": _NO_CODE_FROM_TEXT,
    "eval": _NO_CODE_FROM_TEXT,
    "compile": _NO_CODE_FROM_TEXT,
    "locals": "name the variables, or keep them in a dict",
    "breakpoint": "print what you want to see",
}


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Something in the source that this engine does not run, and how to say it instead."""

    line: int | None
    message: str
    hint: str


def check_program(tree: ast.Module) -> list[Problem]:
    """Rewrite the tree in place; the problems, in the order of their lines, if it may not run."""
    policy = SnippetPolicy()
    policy.visit(tree)
    ast.fix_missing_locations(tree)
    return sorted(policy.problems, key=lambda problem: problem.line or 0)


class SnippetPolicy(RestrictingNodeTransformer):
    """RestrictedPython's policy, as snippets need it."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: list[Problem] = []
        self._in_class_body = False
        self._class_names: list[str] = []
        self._literal_targets: set[ast.AST] = set()

    def error(self, node: ast.AST, info: str) -> None:
        self.refuse(node, info, "say it in plainer Python")

    def refuse(self, node: ast.AST, message: str, hint: str) -> None:
        self.problems.append(Problem(line=getattr(node, "lineno", None), message=message, hint=hint))

    def not_allowed(self, node: ast.AST) -> None:
        self.error(node, f"{type(node).__name__} is not part of the restricted language")

    # Names -------------------------------------------------------------------------------------------

    def visit(self, node: ast.AST) -> Any:
        for name in _bound_names(node):
            self._check_variable(node, name)
        return self.node_contents_visit(node) if isinstance(node, _AS_THEY_ARE) else super().visit(node)

    def check_name(self, node: ast.AST, name: str | None, allow_magic_methods: bool = False) -> None:
        return None  # `visit` checks every identifier of every node, whatever the node is.

    def _check_variable(self, node: ast.AST, name: str) -> None:
        if name in names.GUARD_NAMES | names.RESERVED:
            self.refuse(node, f"the name {name} is reserved", "use another name")
        if not names.is_special(name):
            return
        if name in names.LITERAL_IN_CLASSES:
            if not (self._in_class_body and node in self._literal_targets):
                self.refuse(node, f"{name} must be a literal tuple of plain names", f'for example: {name} = ("x", "y")')
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            allowed = names.READABLE_VARIABLES | names.DEFINABLE
        elif isinstance(node, _FUNCTIONS):
            allowed = names.DEFINABLE  # Outside a class it is a function like any other.
        elif isinstance(node, ast.Name) and self._in_class_body:
            allowed = names.ASSIGNABLE_IN_CLASSES | names.METADATA
        elif isinstance(node, ast.Name):
            allowed = names.METADATA
        else:
            allowed = frozenset()
        if name not in allowed:
            self.refuse(node, f"the name {name} is reserved", "use a name without underscores at both ends")

    # Attributes and items --------------------------------------------------------------------------

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        name = node.attr
        if name in ("__name__", "__qualname__"):
            node.value = self._kind_of(node.value)
        node = self.node_contents_visit(node)
        if isinstance(node.ctx, ast.Load):
            return self._read(node, name)
        if name in names.FORBIDDEN_ATTRIBUTES or (
            names.is_special(name) and name not in names.WRITABLE | names.DEFINABLE
        ):
            self.refuse(node, f"attribute {name} cannot be set", "set a plain attribute, or define a method")
        if name in names.RESERVED:
            self.refuse(node, f"attribute {name} is reserved", "use another name")
        return self._with_object(node, TITLED if name in ("__name__", "__qualname__") else WRITABLE)

    def _read(self, node: ast.Attribute, name: str) -> ast.AST:
        if name in names.FORBIDDEN_ATTRIBUTES or (names.is_special(name) and name not in names.READABLE):
            self.refuse(node, f"attribute {name} cannot be read", "what it leads to does not exist for a snippet")
            return node
        if names.is_special(name) or name in names.WATCHED:
            return _at(node, _call(GET, node.value, ast.Constant(name)))
        if name.startswith("_"):
            # The attribute itself stays, and the compiler mangles `__name` inside a class.
            node.value = _at(node, _call(PRIVATE, node.value, ast.Constant(self._mangled(name))))
        return node

    def _mangled(self, name: str) -> str:
        around = self._class_names[-1].lstrip("_") if self._class_names else ""
        return f"_{around}{name}" if around and name.startswith("__") else name

    def _with_object(self, node: ast.Attribute, guard: str) -> ast.Attribute:
        node.value = _at(node.value, _call(guard, node.value))
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        # The interpreter reads the attribute before it writes it, and hands it to the other side's `__radd__`.
        target = node.target
        if isinstance(target, ast.Attribute) and names.is_special(target.attr):
            self.refuse(node, f"attribute {target.attr} cannot be changed in place", "assign it anew")
        if isinstance(target, ast.Attribute) and (target.attr in names.WATCHED or target.attr.startswith("_")):
            node = self.node_contents_visit(node)
            target.value = _at(target, _call(PRIVATE, target.value, ast.Constant(self._mangled(target.attr))))
            return node
        return self.node_contents_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        node.left = self._kind_of(node.left)
        node.comparators = [self._kind_of(operand) for operand in node.comparators]
        return self.node_contents_visit(node)

    def _kind_of(self, node: ast.expr) -> ast.expr:
        """`x.__class__` where nothing but its name or its identity is asked for: anybody's class may be."""
        if isinstance(node, ast.Attribute) and node.attr == "__class__" and isinstance(node.ctx, ast.Load):
            return _at(node, _call(KIND, node.value))
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and (hint := _REFUSED_CALLS.get(node.func.id)):
            self.refuse(node, f"{node.func.id}() is not available", hint)
        return self.node_contents_visit(node)

    # Statements --------------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        for target in node.targets:
            if (
                isinstance(target, ast.Name)
                and target.id in names.LITERAL_IN_CLASSES
                and _plain_names(target.id, node.value)
            ):
                self._literal_targets.add(target)
        return self.node_contents_visit(node)

    def visit_TryStar(self, node: ast.AST) -> ast.AST:
        self.refuse(node, "except* is not available", "catch ExceptionGroup with except and look at its .exceptions")
        return node

    # Definitions -------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._outside_class_body(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._outside_class_body(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return self._outside_class_body(node)

    def _outside_class_body(self, node: ast.AST) -> ast.AST:
        before, self._in_class_body = self._in_class_body, False
        try:
            return self.node_contents_visit(node)
        finally:
            self._in_class_body = before

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        # What stands before the body belongs to the class around, and so do its mangled names.
        body, node.body = node.body, []
        node = self.node_contents_visit(node)
        before, self._in_class_body = self._in_class_body, True
        self._class_names.append(node.name)
        try:
            node.body = self.node_contents_visit(ast.Module(body, [])).body
        finally:
            self._in_class_body = before
            self._class_names.pop()
        mark = ast.Assign([ast.Name(OWN_CLASS, ast.Store())], ast.Constant(True))
        ast.copy_location(mark, node)
        # After a docstring, which must stay first to be one.
        node.body.insert(1 if ast.get_docstring(node, clean=False) is not None else 0, mark)
        return node

    # Imports -----------------------------------------------------------------------------------------

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        for alias in node.names:
            if alias.name == "*":
                self.refuse(node, "import * is not available", "import the names you use")
            elif alias.name.startswith("_") and node.module != "__future__":
                self.refuse(node, f"{alias.name} cannot be imported", "import a public name")
        return self.node_contents_visit(node)

    # Patterns ----------------------------------------------------------------------------------------

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        for name in node.kwd_attrs:
            # The interpreter reads these attributes itself: no guard can be put between.
            if name.startswith("_") or name in names.FORBIDDEN_ATTRIBUTES | names.WATCHED:
                self.refuse(node, f"attribute {name} cannot be matched", "match the object and read it afterwards")
        return self.node_contents_visit(node)


def _bound_names(node: ast.AST) -> Iterator[str]:
    """Every identifier that the node itself carries, except attributes and keywords of calls.

    Asked of the node's fields and not of a list of node types, so that no new syntax can slip in a name.
    """
    if isinstance(node, ast.Attribute | ast.keyword | ast.Constant | ast.MatchClass | ast.ImportFrom):
        return
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(node, ast.alias):
            # `import a.b` binds `a`; the rest of the path is for the importer.
            value = value.partition(".")[0] if isinstance(value, str) else value
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (name for name in value if isinstance(name, str))


def _plain_names(target: str, value: ast.expr) -> bool:
    """Whether these are literal, harmless attribute names: C code reads attributes by them, unguarded."""
    elements = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
    for element in elements:
        name = element.value if isinstance(element, ast.Constant) else None
        if type(name) is not str or not names.is_member(name) or name in names.FORBIDDEN_ATTRIBUTES | names.WATCHED:
            return False
        if target == "__match_args__" and name.startswith("_"):
            return False
    return True


def _call(guard: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(guard, ast.Load()), list(args), [])


def _at(place: ast.expr, made: _Positioned) -> _Positioned:
    return ast.copy_location(made, place)
