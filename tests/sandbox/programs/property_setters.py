class Temperature:
    _ABSOLUTE_ZERO = -273.15

    def __init__(self, celsius=0.0):
        self.celsius = celsius

    @property
    def celsius(self):
        """Degrees Celsius."""
        return self._celsius

    @celsius.setter
    def celsius(self, value):
        if value < self._ABSOLUTE_ZERO:
            raise ValueError("below absolute zero")
        self._celsius = float(value)

    @celsius.deleter
    def celsius(self):
        self._celsius = 0.0

    @property
    def fahrenheit(self):
        return self._celsius * 9 / 5 + 32

    @fahrenheit.setter
    def fahrenheit(self, value):
        self.celsius = (value - 32) * 5 / 9

    @classmethod
    def from_kelvin(cls, kelvin):
        return cls(kelvin + cls._ABSOLUTE_ZERO)


t = Temperature(25)
assert t.fahrenheit == 77.0
t.fahrenheit = 212
assert t.celsius == 100.0
t.celsius += 1.5
assert t.celsius == 101.5
try:
    t.celsius = -300
except ValueError as e:
    assert str(e) == "below absolute zero"
assert Temperature.from_kelvin(273.15).celsius == 0.0
del t.celsius
assert t.celsius == 0.0
assert Temperature.celsius.__doc__ == "Degrees Celsius."
"ok"
