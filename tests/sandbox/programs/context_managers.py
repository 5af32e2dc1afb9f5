import io
from contextlib import ExitStack, closing, contextmanager, nullcontext, redirect_stdout, suppress

events = []


class Resource:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        events.append(f"open {self.name}")
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        events.append(f"close {self.name} {exc_type.__name__ if exc_type else 'clean'}")
        return exc_type is KeyError


@contextmanager
def tag(name):
    events.append(f"<{name}>")
    try:
        yield name.upper()
    finally:
        events.append(f"</{name}>")


with Resource("a") as r, tag("b") as upper:
    assert r.name == "a" and upper == "B"
assert events == ["open a", "<b>", "</b>", "close a clean"]
events.clear()
with Resource("x"):
    raise KeyError("swallowed")
assert events[-1] == "close x KeyError"
with suppress(ZeroDivisionError, ValueError):
    1 / 0
buffer = io.StringIO()
with redirect_stdout(buffer):
    print("captured", 42, sep="=")
assert buffer.getvalue() == "captured=42\n"
events.clear()
with ExitStack() as stack:
    names = [stack.enter_context(tag(n)) for n in "pq"]
    stack.callback(events.append, "callback")
assert names == ["P", "Q"] and events == ["<p>", "<q>", "callback", "</q>", "</p>"]
with nullcontext(7) as seven:
    assert seven == 7
with closing(io.StringIO("text")) as f:
    assert f.read() == "text"
assert f.closed
"ok"
