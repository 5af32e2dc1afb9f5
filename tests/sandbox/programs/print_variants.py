import io
import sys
from contextlib import redirect_stderr, redirect_stdout

out = io.StringIO()
print("a", 1, None, sep="|", end="!\n", file=out)
print(*[1, 2, 3], file=out)
print(file=out)
print({"k": [1, "two"]}, (1,), {3}, file=out)
assert out.getvalue() == "a|1|None!\n1 2 3\n\n{'k': [1, 'two']} (1,) {3}\n"

with redirect_stdout(io.StringIO()) as captured, redirect_stderr(io.StringIO()) as errors:
    print("to out")
    sys.stdout.write("written\n")
    print("to err", file=sys.stderr)
assert captured.getvalue() == "to out\nwritten\n" and errors.getvalue() == "to err\n"

old, sys.stdout = sys.stdout, io.StringIO()
try:
    print("swapped")
    swapped = sys.stdout.getvalue()
finally:
    sys.stdout = old
assert swapped == "swapped\n"

lines = io.StringIO("one\ntwo\nthree\n")
assert lines.readline() == "one\n" and [l.strip() for l in lines] == ["two", "three"]
lines.seek(0)
assert lines.read(3) == "one" and lines.tell() == 3
raw = io.BytesIO()
raw.write(b"abc")
assert raw.getvalue() == b"abc"
print("progress:", end=" ")
for i in range(3):
    print(i, end="," if i < 2 else "\n", flush=True)
sys.stdout.flush()
"ok"
