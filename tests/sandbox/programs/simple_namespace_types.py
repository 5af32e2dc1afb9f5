import types
from types import MappingProxyType, SimpleNamespace
from typing import Any, Callable, Union, get_type_hints
import inspect


def connect(host: str, port: int = 5432, *, timeout: float = 3.0) -> bool:
    """Pretend to connect."""
    return True


def validate(func: Callable, **values: Any) -> list:
    """Name every argument whose value does not fit its annotation."""
    hints = get_type_hints(func)
    return [name for name, value in values.items() if name in hints and not isinstance(value, hints[name])]


ns = SimpleNamespace(name="cfg", retries=3)
ns.extra = [1]
assert ns.retries == 3 and vars(ns)["extra"] == [1] and ns == SimpleNamespace(name="cfg", retries=3, extra=[1])
assert repr(SimpleNamespace(a=1)) == "namespace(a=1)"
frozen = MappingProxyType({"k": 1})
try:
    frozen["k"] = 2
except TypeError:
    pass
assert frozen["k"] == 1
sig = inspect.signature(connect)
assert list(sig.parameters) == ["host", "port", "timeout"]
assert sig.parameters["port"].default == 5432 and sig.return_annotation is bool
assert str(sig) == "(host: str, port: int = 5432, *, timeout: float = 3.0) -> bool"
assert validate(connect, host="h", port="x", timeout=1.0) == ["port"]
assert inspect.isfunction(connect) and inspect.getdoc(connect) == "Pretend to connect."
assert connect.__annotations__["host"] is str and connect.__defaults__ == (5432,)
assert isinstance(connect, types.FunctionType) and isinstance(3, int | str) and Union[int, None] == (int | None)
"ok"
