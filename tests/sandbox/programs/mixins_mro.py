import json


class JsonMixin:
    def to_json(self, **kw):
        return json.dumps(self.__dict__, default=lambda o: o.__dict__, **kw)


class CompareMixin:
    def __lt__(self, other):
        return self._cmp_key() < other._cmp_key()

    def __eq__(self, other):
        return self._cmp_key() == other._cmp_key()

    def __hash__(self):
        return hash(self._cmp_key())


class Base:
    def __init__(self, *args, **kwargs):
        self.trace = ["Base"]
        super().__init__(*args, **kwargs)

    def hello(self):
        return ["base"]


class Left(Base):
    def hello(self):
        return ["left"] + super().hello()


class Right(Base):
    def hello(self):
        return ["right"] + super().hello()


class Both(Left, Right):
    def hello(self):
        return ["both", *super().hello()]


class Person(CompareMixin, JsonMixin):
    def __init__(self, name, age, boss=None):
        self.name, self.age, self.boss = name, age, boss

    def _cmp_key(self):
        return (self.age, self.name)


assert Both().hello() == ["both", "left", "right", "base"]
assert [c.__name__ for c in Both.__mro__] == ["Both", "Left", "Right", "Base", "object"]
assert [c.__name__ for c in Both.mro()][:2] == ["Both", "Left"]
people = [Person("Zed", 30), Person("Ann", 30), Person("Kit", 9)]
assert [p.name for p in sorted(people)] == ["Kit", "Ann", "Zed"]
assert Person("Kit", 9) in people and len(set(people + [Person("Zed", 30)])) == 3
assert Person("Al", 1, Person("B", 2)).to_json() == '{"name": "Al", "age": 1, "boss": {"name": "B", "age": 2, "boss": null}}'
"ok"
