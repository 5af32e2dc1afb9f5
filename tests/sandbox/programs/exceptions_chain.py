import traceback


class AppError(Exception):
    """Base of what this program raises."""

    code = 1


class ConfigError(AppError):
    code = 2

    def __init__(self, key, message="missing key"):
        self.key = key
        self.message = message
        super().__init__(message)

    def __str__(self):
        return f"[{self.code}] {self.message}: {self.key}"


def read(config, key):
    try:
        return config[key]
    except KeyError as error:
        raise ConfigError(key) from error


def classify(func):
    steps = []
    try:
        steps.append("try")
        value = func()
    except (TypeError, ValueError) as e:
        steps.append(type(e).__name__)
    except Exception as e:
        steps.append(e.__class__.__name__)
    else:
        steps.append(f"else {value}")
    finally:
        steps.append("finally")
    return steps


try:
    read({}, "host")
except AppError as e:
    assert str(e) == "[2] missing key: host" and isinstance(e.__cause__, KeyError)
    text = traceback.format_exc()
    assert "direct cause" in text and "ConfigError" in text
assert classify(lambda: 5) == ["try", "else 5", "finally"]
assert classify(lambda: int("x")) == ["try", "ValueError", "finally"]
assert classify(lambda: [][1]) == ["try", "IndexError", "finally"]
assert classify(lambda: None + 1) == ["try", "TypeError", "finally"]
assert classify(lambda: {}["k"]) == ["try", "KeyError", "finally"]
try:
    try:
        raise ValueError("inner")
    except ValueError:
        raise RuntimeError("outer")
except RuntimeError as e:
    assert repr(e.__context__) == "ValueError('inner')" and e.args == ("outer",)
"ok"
