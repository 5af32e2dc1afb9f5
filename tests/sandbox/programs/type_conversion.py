import math
import numbers
import cmath


def smart_cast(text: str):
    """Turn text into the narrowest of bool, None, int, float or str."""
    lowered = text.strip().lower()
    if lowered in {"true", "false"}:
        return lowered == "true"
    if lowered in ("none", "null", ""):
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def human_size(n: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if abs(n) < 1024:
            return f"{n:.1f}{unit}" if unit != "B" else f"{n}B"
        n /= 1024
    return f"{n:.1f}TB"


def kind_of(x):
    if isinstance(x, bool):
        return "bool"
    elif isinstance(x, numbers.Integral):
        return "int"
    elif isinstance(x, numbers.Real):
        return "real"
    return type(x).__name__


assert [smart_cast(t) for t in ("True", "null", "42", "-1.5", "1e3", "abc")] == [True, None, 42, -1.5, 1000.0, "abc"]
assert [human_size(n) for n in (512, 2048, 5 * 1024**2, 3 * 1024**4)] == ["512B", "2.0KB", "5.0MB", "3.0TB"]
assert [kind_of(v) for v in (True, 3, 2.5, "s", None, [1], 1j)] == ["bool", "int", "real", "str", "NoneType", "list", "complex"]
assert math.isnan(float("nan")) and float("inf") > 10**100 and math.isinf(-math.inf)
assert (3 + 4j).conjugate() == 3 - 4j and abs(3 + 4j) == 5.0 and cmath.sqrt(-1) == 1j
assert int("0b101", 0) == 5 and int(-3.9) == -3 and round(3.14159, 2) == 3.14 and (7).bit_length() == 3
assert (0.5).as_integer_ratio() == (1, 2) and (2.0).is_integer() and float.fromhex("0x1.8p1") == 3.0
assert chr(9731) == "☃" and ord("A") == 65 and ascii("é") == "'\\xe9'" and bool([]) is False
assert list(map(int, "1 2 3".split())) == [1, 2, 3] and str(1.0) == "1.0" and repr("a'b") == '"a\'b"'
assert complex("1+2j").imag == 2.0 and hash(1) == hash(1.0) and isinstance(True, int)
assert dict([("a", 1)]) == {"a": 1} and list({"x": 1}.items()) == [("x", 1)] and tuple("ab") == ("a", "b")
"ok"
