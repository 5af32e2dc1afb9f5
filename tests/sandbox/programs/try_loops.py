import sys
import traceback
from typing import List


def parse_all(tokens: List[str]):
    """Numbers that can be read, and a message for each one that cannot."""
    good, bad = [], []
    for token in tokens:
        try:
            number = int(token)
        except ValueError as err:
            bad.append(str(err))
            continue
        else:
            good.append(number)
        finally:
            if len(good) >= 3:
                break
    return good, bad


def find_divisor(n):
    d = 2
    while d * d <= n:
        if n % d == 0:
            break
        d += 1
    else:
        return None
    return d


def cleanup_order():
    log = []
    for name in "ab":
        try:
            if name == "b":
                return log
            log.append(name)
        finally:
            log.append(name.upper())


def nested(value):
    try:
        try:
            return 10 / value
        except TypeError:
            raise ValueError("not a number") from None
    except (ValueError, ZeroDivisionError) as e:
        return f"{type(e).__name__}({e})"


assert parse_all(["1", "x", "2", "3", "4"]) == ([1, 2, 3], ["invalid literal for int() with base 10: 'x'"])
assert find_divisor(91) == 7 and find_divisor(13) is None
assert cleanup_order() == ["a", "A", "B"]
assert nested(4) == 2.5 and nested(0) == "ZeroDivisionError(division by zero)" and nested("s") == "ValueError(not a number)"
try:
    [1, 2][5]
except IndexError:
    kind, value, tb = sys.exc_info()
    assert kind is IndexError and str(value) == "list index out of range" and tb is not None
    traceback.print_exc()
    assert traceback.format_exc().strip().endswith("IndexError: list index out of range")
try:
    raise ValueError("base")
except ValueError as e:
    e.add_note("while testing")
    assert e.__notes__ == ["while testing"]
    lines = traceback.format_exception(type(e), e, e.__traceback__)
    assert lines[0].startswith("Traceback") and "base" in "".join(lines)
try:
    assert 1 > 2, "math still works"
except AssertionError as e:
    assert e.args[0] == "math still works"
try:
    undefined_name
except NameError as e:
    assert "undefined_name" in str(e)
"ok"
