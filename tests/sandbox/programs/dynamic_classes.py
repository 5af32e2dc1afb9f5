from functools import partialmethod


def make_class(name, **defaults):
    def __init__(self, **kwargs):
        for key, value in {**defaults, **kwargs}.items():
            setattr(self, key, value)

    return type(name, (object,), {"__init__": __init__, "kind": name.lower()})


def add_repr(cls):
    """Class decorator."""

    def __repr__(self):
        inner = ", ".join(f"{k}={v}" for k, v in sorted(self.__dict__.items()))
        return f"{cls.__name__}({inner})"

    cls.__repr__ = __repr__
    return cls


@add_repr
class Light:
    class Mode:
        DIM, BRIGHT = range(2)

    def __init__(self):
        self.on = False

    def switch(self, value):
        self.on = value
        return self

    turn_on = partialmethod(switch, True)
    turn_off = partialmethod(switch, False)


class Meters:
    def __init__(self, value):
        self.value = value

    def __class_getitem__(cls, item):
        return cls(item)

    def __radd__(self, other):
        return self.value + (other.value if isinstance(other, Meters) else other)

    def __rtruediv__(self, other):
        return other / self.value

    def __int__(self):
        return int(self.value)

    def __index__(self):
        return int(self.value)


Cat = make_class("Cat", legs=4)
tom = Cat(name="Tom")
assert (tom.legs, tom.name, tom.kind, Cat.__name__) == (4, "Tom", "cat", "Cat")
assert repr(Light().turn_on()) == "Light(on=True)" and Light().turn_on().turn_off().on is False
assert Light.Mode.BRIGHT == 1
assert sum([Meters(2)]) == 2 and 10 / Meters(4) == 2.5 and "abc"[Meters(1)] == "b" and Meters[7].value == 7
Light.blink = lambda self: [self.turn_on().on, self.turn_off().on]
assert Light().blink() == [True, False]
"ok"
