from typing import ClassVar, Dict, Type


class Plugin:
    registry: ClassVar[Dict[str, Type["Plugin"]]] = {}
    name = None

    def __init_subclass__(cls, /, name=None, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.name = name or cls.__name__.lower()
        Plugin.registry[cls.name] = cls

    def run(self, text):
        raise NotImplementedError

    @classmethod
    def create(cls, name, *args):
        try:
            return cls.registry[name](*args)
        except KeyError:
            raise LookupError(f"no plugin {name!r}; have {', '.join(sorted(cls.registry))}") from None


class Upper(Plugin):
    def run(self, text):
        return text.upper()


class Repeat(Plugin, name="times"):
    def __init__(self, n=2):
        self.n = n

    def run(self, text):
        return text * self.n


COMMANDS = {}


def command(name, *aliases):
    def register(func):
        for key in (name, *aliases):
            COMMANDS[key] = func
        return func

    return register


@command("add", "+")
def add(a, b):
    return a + b


@command("neg")
def neg(a):
    return -a


assert sorted(Plugin.registry) == ["times", "upper"]
assert Plugin.create("times", 3).run("ab") == "ababab" and Plugin.create("upper").run("x") == "X"
try:
    Plugin.create("lower")
except LookupError as e:
    assert str(e) == "no plugin 'lower'; have times, upper"
assert COMMANDS["+"](2, 3) == COMMANDS["add"](4, 1) == 5 and COMMANDS["neg"](1) == -1
"ok"
