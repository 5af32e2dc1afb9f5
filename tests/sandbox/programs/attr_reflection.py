class Config:
    """Settings with defaults that keyword arguments may replace."""

    debug = False

    def __init__(self, **kwargs):
        self.host = "localhost"
        self.port = 8080
        for key, value in kwargs.items():
            if not hasattr(self, key):
                raise AttributeError(f"unknown setting {key!r}")
            setattr(self, key, value)

    def to_dict(self):
        return {k: v for k, v in self.__dict__.items() if not k.startswith("_")}

    def __repr__(self):
        args = ", ".join(f"{k}={v!r}" for k, v in vars(self).items())
        return f"{self.__class__.__name__}({args})"


class Session(Config):
    pass


c = Config(port=9000, debug=True)
assert c.to_dict() == {"host": "localhost", "port": 9000, "debug": True}
assert repr(Session()) == "Session(host='localhost', port=8080)"
assert getattr(c, "missing", None) is None and getattr(c, "port") == 9000
try:
    Config(colour="red")
except AttributeError as e:
    assert "colour" in str(e)
delattr(c, "debug")
assert c.debug is False and "debug" not in c.__dict__
del c.host
assert not hasattr(c, "host")
assert callable(c.to_dict) and c.to_dict.__name__ == "to_dict"
public = [n for n in dir(c) if not n.startswith("_")]
assert "port" in public and "to_dict" in public
assert type(c) is Config and isinstance(c, object) and Session.__bases__ == (Config,)
assert Config.__doc__.startswith("Settings")
"ok"
