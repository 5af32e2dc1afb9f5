from collections import defaultdict
from typing import Any, Callable, DefaultDict, List


class EventEmitter:
    def __init__(self) -> None:
        self._handlers: DefaultDict[str, List[Callable[..., Any]]] = defaultdict(list)

    def on(self, event: str, handler: Callable[..., Any] = None):
        """Usable both as a method and as a decorator."""
        if handler is None:
            return lambda fn: self.on(event, fn)
        self._handlers[event].append(handler)
        return handler

    def once(self, event: str, handler):
        def wrapper(*args, **kwargs):
            self.off(event, wrapper)
            return handler(*args, **kwargs)

        return self.on(event, wrapper)

    def off(self, event: str, handler) -> None:
        self._handlers[event].remove(handler)

    def emit(self, event: str, *args: Any, **kwargs: Any) -> List[Any]:
        return [handler(*args, **kwargs) for handler in list(self._handlers[event])]


bus = EventEmitter()
log = []


@bus.on("greet")
def shout(name, punct="!"):
    log.append(name.upper() + punct)
    return len(name)


bus.once("greet", lambda name, **kw: log.append(f"once {name}"))
assert bus.emit("greet", "ivo") == [3, None]
assert bus.emit("greet", "ada", punct="?") == [3]
assert log == ["IVO!", "once ivo", "ADA?"]
bus.off("greet", shout)
assert bus.emit("greet", "x") == [] and bus.emit("unknown") == []
"ok"
