class SingletonMeta(type):
    _instances = {}

    def __call__(cls, *args, **kwargs):
        if cls not in cls._instances:
            cls._instances[cls] = super().__call__(*args, **kwargs)
        return cls._instances[cls]


class Settings(metaclass=SingletonMeta):
    def __init__(self, theme="light"):
        self.theme = theme


class Registry:
    _instance = None

    def __new__(cls, *args, **kwargs):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance.items = {}
        return cls._instance

    def register(self, key, value):
        self.items[key] = value
        return self


class Celsius(float):
    def __new__(cls, value):
        return super().__new__(cls, round(value, 1))

    def __str__(self):
        return f"{float(self)}°C"


a, b = Settings("dark"), Settings("light")
assert a is b and b.theme == "dark"
Registry().register("one", 1).register("two", 2)
assert Registry().items == {"one": 1, "two": 2} and Registry() is Registry()
assert str(Celsius(21.456)) == "21.5°C" and Celsius(20) + 1 == 21.0
"ok"
