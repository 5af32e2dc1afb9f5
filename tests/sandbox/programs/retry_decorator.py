import functools
import time
from collections.abc import Callable


def retry[**P, R](times: int, on: type[Exception], pause: float = 0.0) -> Callable[[Callable[P, R]], Callable[P, R]]:
    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            for attempt in range(1, times + 1):
                try:
                    return function(*args, **kwargs)
                except on as error:
                    error.add_note(f"attempt {attempt}")
                    if attempt == times:
                        raise
                    time.sleep(pause)
            raise AssertionError("unreachable")

        return wrapper

    return decorate


calls = 0


@retry(3, ConnectionError, pause=0.001)
def flaky(fail: int) -> str:
    """Fails a few times."""
    global calls
    calls += 1
    if calls <= fail:
        raise ConnectionError(calls)
    return f"after {calls}"


assert flaky(2) == "after 3"
assert flaky.__doc__ == "Fails a few times."
calls = 0
try:
    flaky(9)
except ConnectionError as error:
    assert error.__notes__ == ["attempt 3"]
assert calls == 3

"ok"
