import os.path
import sys
from pathlib import PurePosixPath


def parse_args(argv):
    options, names = {}, []
    it = iter(argv)
    for arg in it:
        if arg.startswith("--"):
            key, eq, value = arg[2:].partition("=")
            options[key] = value if eq else True
        elif arg == "-o":
            options["output"] = next(it)
        else:
            names.append(arg)
    return options, names


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    options, names = parse_args(argv)
    if not names:
        print("usage: prog NAME...", file=sys.stderr)
        return 2
    for name in names:
        print(f"Hello, {name.upper() if options.get('loud') else name}!")
    return 0


assert parse_args(["--loud", "--lang=en", "-o", "x.txt", "bo"]) == ({"loud": True, "lang": "en", "output": "x.txt"}, ["bo"])
assert os.path.join("a", "b.txt") == "a/b.txt" and os.path.splitext("b.tar.gz") == ("b.tar", ".gz")
assert os.path.basename("/x/y.py") == "y.py" and os.path.dirname("/x/y.py") == "/x"
p = PurePosixPath("/srv/data") / "in" / "file.csv"
assert p.suffix == ".csv" and p.stem == "file" and p.parent.name == "in" and p.with_suffix(".json").name == "file.json"
assert sys.version_info >= (3, 11) and sys.maxsize > 2**30 and isinstance(sys.argv, list)
if __name__ == "__main__":
    try:
        sys.exit(main(["--loud", "ann"]))
    except SystemExit as e:
        assert e.code == 0
    assert main([]) == 2
"ok"
