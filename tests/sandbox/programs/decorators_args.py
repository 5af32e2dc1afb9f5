import functools
import time
from typing import Any, Callable


def repeat(times: int = 2):
    def decorator(func: Callable) -> Callable:
        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any):
            return [func(*args, **kwargs) for _ in range(times)]

        return wrapper

    return decorator


def timer(func):
    """Keep how long each call took."""

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        start = time.perf_counter()
        try:
            return func(*args, **kwargs)
        finally:
            wrapper.timings.append(time.perf_counter() - start)

    wrapper.timings = []
    return wrapper


class CountCalls:
    def __init__(self, func):
        functools.update_wrapper(self, func)
        self.func = func
        self.calls = 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.func(*args, **kwargs)


@repeat(times=3)
def greet(name: str) -> str:
    """Say hello."""
    return f"hello {name}"


@timer
def slow_sum(n):
    return sum(range(n))


@CountCalls
def ping():
    return "pong"


assert greet("Bo") == ["hello Bo"] * 3
assert greet.__name__ == "greet" and greet.__doc__ == "Say hello."
assert slow_sum(1000) == 499500 and len(slow_sum.timings) == 1 and slow_sum.timings[0] >= 0
assert ping() == ping() == "pong" and ping.calls == 2
"ok"
