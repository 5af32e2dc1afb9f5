import ast
import shlex
import argparse
import configparser
from pprint import pformat

INI = """
[server]
host = 0.0.0.0
port = 8080
debug = yes

[paths]
root = /srv
logs = %(root)s/logs
"""

data = ast.literal_eval("{'a': [1, 2.5, None], 'b': (True, 'x')}")
assert data == {"a": [1, 2.5, None], "b": (True, "x")}
try:
    ast.literal_eval("__import__('os')")
except ValueError:
    pass
assert shlex.split("cp 'my file.txt' dest --mode=\"a b\"") == ["cp", "my file.txt", "dest", "--mode=a b"]
assert shlex.quote("it's") == "'it'\"'\"'s'"
config = configparser.ConfigParser()
config.read_string(INI)
assert config.sections() == ["server", "paths"] and config.getint("server", "port") == 8080
assert config["server"].getboolean("debug") and config["paths"]["logs"] == "/srv/logs"
assert config.get("server", "missing", fallback="none") == "none"
parser = argparse.ArgumentParser(prog="tool", description="demo")
parser.add_argument("name")
parser.add_argument("-n", "--count", type=int, default=1)
parser.add_argument("--loud", action="store_true")
args = parser.parse_args(["bob", "-n", "3", "--loud"])
assert (args.name, args.count, args.loud) == ("bob", 3, True) and vars(args)["count"] == 3
assert "usage: tool" in parser.format_usage()
assert pformat({"b": 1, "a": [1, 2]}) == "{'a': [1, 2], 'b': 1}"
"ok"
