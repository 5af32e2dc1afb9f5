"""Snippets made from a seed, for what should be the same when it is repeated.

Each is a handful of pieces, in any order, nested into each other: they compute, print, fail, draw, look at clocks, hash, and
call tools, one after the other and at once. Everything a piece learns goes into `seen`, which is the value, and parts of it into the
arguments of later calls; so a difference anywhere shows in the value, in the output, or in the next call.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from textwrap import indent
from typing import Final

__all__ = ["snippet"]

_HEAD: Final = """\
import asyncio, atexit, collections, dataclasses, datetime, hashlib, itertools, json, math, random, re, secrets, time, uuid
seen = []
def told(result):
    return result.value if result.ok else result.error.code
"""


def _loop(chance: random.Random, body: Callable[[], str]) -> str:
    return f"for i{chance.randrange(9)} in range({chance.randrange(1, 4)}):\n" + indent(body(), "    ")


def _function(chance: random.Random, body: Callable[[], str]) -> str:
    name = f"f{chance.randrange(10**6)}"
    return (
        f"async def {name}(x=({chance.randrange(99)})):\n"
        + indent(body(), "    ")
        + f"\n    return x\nseen.append(await {name}())"
    )


def _class(chance: random.Random, body: Callable[[], str]) -> str:
    name = f"C{chance.randrange(10**6)}"
    return f"""\
@dataclasses.dataclass(order=True)
class {name}:
    a: int
    b: str = "x"
    def __hash__(self):
        return hash((self.a, self.b))
seen.append([repr(each) for each in {{{name}({chance.randrange(9)}, c) for c in "zyxwv"}}])
seen.append(repr({name}(1))[:80] + str(id({name}) % 7))"""


def _exception(chance: random.Random, body: Callable[[], str]) -> str:
    kind = chance.choice(
        ["1 / 0", "[][1]", "{}['k']", "int('x')", "raise_it()", "tools.shelf.fail(how='raise').unwrap()"]
    )
    return f"try:\n    {kind}\nexcept Exception as error:\n    seen.append([type(error).__name__, str(error)])\n" + (
        "finally:\n" + indent(body(), "    ") if chance.random() < 0.5 else "    print('caught')"
    )


def _print(chance: random.Random, body: Callable[[], str]) -> str:
    size = chance.choice([1, 3, 200, 9000]) if chance.random() < 0.9 else 40_000
    return f"print('{chance.choice('abc')}' * {size}, len(seen), end={chance.choice(['chr(10)', repr(''), repr(' ')])})"


def _chance(chance: random.Random, body: Callable[[], str]) -> str:
    return chance.choice(
        [
            "seen.append(random.random())",
            "seen.append(random.sample(range(100), 5))",
            "seen.append(str(uuid.uuid4()))",
            "seen.append(str(uuid.uuid1()))",
            "seen.append(secrets.token_hex(8))",
            "seen.append(random.SystemRandom().random())",
            "seen.append(random.Random().random())",
        ]
    )


def _time(chance: random.Random, body: Callable[[], str]) -> str:
    return chance.choice(
        [
            "seen.append(time.time())",
            "seen.append(time.monotonic_ns())",
            "seen.append(time.perf_counter())",
            "seen.append(datetime.datetime.now().isoformat())",
            "seen.append(str(datetime.datetime.now(datetime.UTC)))",
            "time.sleep(0.001)\nseen.append(time.time_ns())",
            "seen.append(time.process_time() >= 0)",
        ]
    )


def _order(chance: random.Random, body: Callable[[], str]) -> str:
    words = ", ".join(repr(f"w{chance.randrange(10**4)}") for _ in range(9))
    return chance.choice(
        [
            f"seen.append(list({{{words}}}))",
            f"seen.append(list(dict.fromkeys([{words}])))",
            f"seen.append([hash(x) for x in ({words})])",
            f"seen.append(list({{{words}}} - {{'w1'}} | {{'w2'}}))",
            f"seen.append(collections.Counter(''.join(({words}))).most_common(3))",
            "seen.append([id(object()) == id(object()), str(object())])",
            "seen.append(list({object: 1, int: 2, str: 3}.values()) + [repr(print), repr(lambda: 1)])",
        ]
    )


def _compute(chance: random.Random, body: Callable[[], str]) -> str:
    return chance.choice(
        [
            f"seen.append(sum(x * x for x in range({chance.randrange(2000)})))",
            "seen.append(hashlib.sha256(json.dumps(seen, default=str).encode()).hexdigest())",
            f"seen.append(math.sin({chance.random()}))",
            "seen.append(re.sub('[aeiou]', '*', 'a quick brown fox'))",
            "seen.append(list(itertools.islice(itertools.permutations('abcd'), 5)))",
        ]
    )


def _call(chance: random.Random, body: Callable[[], str]) -> str:
    return chance.choice(
        [
            f"seen.append(told(tools.shelf.look(of='{chance.randrange(99)}')))",
            "seen.append(told(tools.shelf.look(of=str(seen[-1:])[:50])))",
            f"seen.append(told(tools.shelf.fail(how='{chance.choice(['raise', 'crash', 'type'])}')))",
            "seen.append(told(getattr(tools.shelf, 'denied')(of='x')))",
            "seen.append(told(getattr(tools.shelf, 'no' + 'thing')(1)))",
            "seen.append(told(tools.shelf.look(**{'o' + 'ff': 1})))",
            f"seen.append(len(told(tools.shelf.big(size={chance.choice([10, 5000, 200_000])}))))",
            f"seen.append(told(tools.shelf.send(line=str(seen[-1:])[:40] + '{chance.randrange(99)}')))",
            "seen.append(told(tools.shelf.note(line=str(random.random()))))",
        ]
    )


def _parallel(chance: random.Random, body: Callable[[], str]) -> str:
    count = chance.randrange(2, 6)
    calls = f"[tools.shelf.slow.start(of=str(n)) for n in range({count})]"
    return chance.choice(
        [
            f"for r in await asyncio.gather(*{calls}):\n    seen.append(told(r))",
            f"""\
async def one(call):
    result = await call
    seen.append([told(result), time.monotonic()])
    return told(result)
for next_one in asyncio.as_completed([one(call) for call in {calls}]):
    seen.append(await next_one)""",
            f"""\
pending = {calls}
while not all(call.done for call in pending):
    await asyncio.sleep({chance.choice([0, 0.001, 0.0005])})
seen.append([told(call.result()) for call in pending])""",
            f"""\
async def patient(call):
    return await call
try:
    seen.append(told(await asyncio.wait_for(patient(tools.shelf.slow.start(of="w")), {chance.choice([0.0005, 0.002, 5])})))
except TimeoutError:
    seen.append("too slow")""",
            """\
queue = asyncio.Queue()
async def worker(name):
    while True:
        item = await queue.get()
        seen.append([name, item, told(await tools.shelf.slow.start(of=str(item)))])
        queue.task_done()
workers = [asyncio.create_task(worker(n)) for n in range(2)]
for item in range(4):
    queue.put_nowait(item)
await queue.join()
for each in workers:
    each.cancel()""",
            f"calls = {calls}\nseen.append(told(calls[-1].result()))\nseen.append([call.done for call in calls])",
            f"""\
mixed = [tools.shelf.slow.start(of="m"), tools.shelf.send.start(line="p{chance.randrange(9)}"), tools.shelf.send.start(line="q")]
for r in await asyncio.gather(*mixed):
    seen.append(told(r))""",
        ]
    )


def _left(chance: random.Random, body: Callable[[], str]) -> str:
    """Calls and tasks that nobody waits for, calls that are given up, and clean-up that calls."""
    n = chance.randrange(10**6)
    return chance.choice(
        [
            f"for n in range({chance.randrange(1, 4)}):\n    tools.shelf.slow.start(of=f'left {{n}}')",
            f"tools.shelf.send.start(line='left {n}')",
            f"tools.shelf.note.start(line='left {n}')",
            "tools.shelf.fail(how='raise')",
            "tools.shelf.fail.start(how='crash')",
            f"""\
async def later{n}(n):
    await asyncio.sleep(n / 5000)
    print('later', told(await tools.shelf.slow.start(of=str(n))), len(seen))
    tools.shelf.{chance.choice(["slow.start(of='x')", "send.start(line='x')", "note(line='x')"])}
kept{n} = [asyncio.create_task(later{n}(n)) for n in range({chance.randrange(1, 4)})]""",
            f"call{n} = tools.shelf.{chance.choice(['slow', 'look'])}.start(of='given up')\ncall{n}.cancel()",
            f"""\
try:
    seen.append(told(await asyncio.wait_for(tools.shelf.send.start(line='given up'), {chance.choice([0, 0.0005, 0.002])})))
except TimeoutError:
    seen.append("given up")""",
            f"""\
task{n} = asyncio.create_task(tools.shelf.{chance.choice(["slow.start(of='t')", "send.start(line='t')"])})
{chance.choice(["await asyncio.sleep(0)", "await asyncio.sleep(0.001)", "pass"])}
task{n}.cancel()""",
            f"""\
async def bad{n}():
    await tools.shelf.slow.start(of="bad")
    raise KeyError("bad")
try:
    async with asyncio.TaskGroup() as group{n}:
        members{n} = [group{n}.create_task(tools.shelf.slow.start(of=str(n))) for n in range(3)]
        group{n}.create_task(bad{n}())
        group{n}.create_task(tools.shelf.send.start(line="in a group"))
except* Exception as group_error:
    seen.append(str(group_error))
seen.append([member.cancelled() for member in members{n}])""",
            f"""\
async def opened{n}():
    try:
        yield 1
    finally:
        print('closed', told(await tools.shelf.slow.start(of="closed")))
generator{n} = opened{n}()
seen.append(await anext(generator{n}))""",
            f"atexit.register(lambda: print('exit', told(tools.shelf.{chance.choice(['look(of=1)', 'send(line=2)'])})))".replace(
                "1)", "'1')"
            ).replace("2)", "'2')"),
            f"async def lost{n}():\n    raise ValueError('lost')\nkept{n} = asyncio.create_task(lost{n}())",
        ]
    )


def _sleeps(chance: random.Random, body: Callable[[], str]) -> str:
    return """\
async def late(n):
    await asyncio.sleep(n / 2000)
    seen.append([n, round(time.monotonic(), 4)])
await asyncio.gather(*(late(n) for n in (3, 1, 2)))"""


_PIECES: Final = (
    *(_class, _exception, _print, _chance, _time, _order, _compute, _call, _call, _parallel, _sleeps),
    *(_left, _left, _left),
)


def snippet(seed: int) -> str:
    """The snippet of this seed."""
    chance = random.Random(f"snippet {seed}")

    def piece(depth: int = 0) -> str:
        if depth < 2 and chance.random() < 0.2:
            return chance.choice((_loop, _function))(chance, lambda: piece(depth + 1))
        return chance.choice(_PIECES)(chance, lambda: piece(depth + 1) if depth < 2 else "pass")

    pieces = [piece() for _ in range(chance.randrange(3, 9))]
    ends = ["seen"] if chance.random() < 0.9 else ["raise ValueError(str(seen)[:300])"]
    return "\n".join([_HEAD, *pieces, *ends]) + "\n"
