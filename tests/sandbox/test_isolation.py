"""A snippet reaches the bridge and nothing else, and leaves nothing for the next one.

Each test asserts on what was reached: on values a snippet brought back, and on traces outside. What an
attempt is answered with (an exception, an Err, a crash of the sandbox) is the engine's own business.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.sandbox.conftest import ENDED, everything

from coilclaw.sandbox import Completed, Engine, Failed, Pins, Rejected

if TYPE_CHECKING:
    from tests.sandbox.conftest import Execute, Ran

CANARY = "canary-7f3a91c4"


def out_of_reach(engine: Engine, ran: Ran) -> bool:
    """On the restricted engine many an attack cannot be said at all: it is refused, or its first name is missing."""
    return engine.name == "restricted" and isinstance(ran.outcome, Failed | Rejected)


def attempt(expression: str) -> str:
    """A snippet whose value is what the expression reached, or None if it reached nothing."""
    return f"def reach():\n    {expression}\ntry:\n    reached = reach()\nexcept BaseException:\n    reached = None\nreached"


# Nothing stays from run to run --------------------------------------------------------------------------

LEFT_BEHIND = {
    "a global": ("leftover = 1", "'leftover' in globals()"),
    "an attribute of __main__": ("import __main__\n__main__.left = 1", "import __main__\nhasattr(__main__, 'left')"),
    "a builtin": ("import builtins\nbuiltins.left = 1", "import builtins\nhasattr(builtins, 'left')"),
    "a patched builtin": ("import builtins\nbuiltins.len = lambda x: 99", "len([]) == 99"),
    "a patched module": ("import json\njson.dumps = lambda *a, **k: 'x'", "import json\njson.dumps(1) == 'x'"),
    "a patched class": ("import decimal\ndecimal.left = 1", "import decimal\nhasattr(decimal, 'left')"),
    "a module": (
        "import sys, types\nsys.modules['left'] = types.ModuleType('left')",
        "import sys\n'left' in sys.modules",
    ),
    "a missing module": ("import sys\nsys.modules['json'] = None", "import sys\nsys.modules['json'] is None"),
    "an import hook": ("import sys\nsys.meta_path.insert(0, 1)", "import sys\n1 in sys.meta_path"),
    "an environment variable": ("import os\nos.environ['LEFT'] = '1'", "import os\n'LEFT' in os.environ"),
    "a patched tool": ("type(tools).__call__ = lambda *a, **k: 'patched'", "tools.echo(a=1) == 'patched'"),
    "a cached tool": ("tools.left = 'patched'", "tools.left == 'patched'"),
    "a patched result": ("Ok.unwrap = lambda self: 'patched'", "Ok(1).unwrap() == 'patched'"),
    "a patched error": ("Err.ok = True", "Err('a', 'b').ok"),
    "a recursion limit": ("import sys\nsys.setrecursionlimit(77)", "import sys\nsys.getrecursionlimit() == 77"),
    "a decimal context": (
        "import decimal\ndecimal.getcontext().prec = 3",
        "import decimal\ndecimal.getcontext().prec == 3",
    ),
    "a seed": ("import random\nrandom.seed(1)", "import random\nrandom.random() == random.Random(1).random()"),
    "a codec": (
        "import codecs\ncodecs.register(lambda n: codecs.lookup('utf-8') if n == 'left' else None)",
        "try:\n    ''.encode('left')\n    found = True\nexcept LookupError:\n    found = False\nfound",
    ),
    "a trace function": ("import sys\nsys.settrace(lambda *a: None)", "import sys\nsys.gettrace() is not None"),
    "a logging handler": (
        "import logging\nlogging.basicConfig()",
        "import logging\nbool(logging.getLogger().handlers)",
    ),
    "a warning filter": (
        "import warnings\nwarnings.filters.insert(0, 'left')",
        "import warnings\nwarnings.filters[:1] == ['left']",
    ),
    "an output stream": (
        "import sys, io\nsys.stdout = io.StringIO()",
        "import sys, io\ntype(sys.stdout) is io.StringIO",
    ),
    "a pending call": (
        "tools.echo.start(a=1)",
        "import gc\nany(type(o).__name__ == 'PendingCall' for o in gc.get_objects())",
    ),
    "a host function": (
        "import sys\nif 'wit_world' in sys.modules: sys.modules['wit_world'].call = None",
        "tools.echo(a=1).ok is not True",
    ),
    "a working directory": ("import os\nos.chdir('/')", "import os\nos.getcwd() != '/'"),
    "a signal handler": (
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)",
        "import signal\nsignal.getsignal(signal.SIGINT) == signal.SIG_IGN",
    ),
}


@pytest.mark.req("R4", "R19")
@pytest.mark.parametrize(("leave", "found"), LEFT_BEHIND.values(), ids=LEFT_BEHIND.keys())
def test_nothing_is_left_for_the_next_run(execute: Execute, engine: Engine, leave: str, found: str) -> None:
    tools = {"echo": lambda a: a}
    for _ in range(2):
        assert isinstance(execute(leave, tools=tools).outcome, ENDED)
        ran = execute(found, tools=tools)
        assert out_of_reach(engine, ran) or ran.value is False


def test_an_atexit_hook_of_one_run_does_not_reach_another(execute: Execute) -> None:
    execute("import atexit\natexit.register(print, 'left')\natexit.register(lambda: tools.echo(a=1))")
    ran = execute("1")
    assert (ran.stdout, ran.calls) == ("", [])


def test_a_destructor_of_one_run_does_not_reach_the_host_of_another(execute: Execute) -> None:
    source = "class D:\n    def __del__(self):\n        print('left')\n        tools.echo(a=1)\nkept = D()\nkept.me = kept\n1"
    for _ in range(3):
        execute(source)
        ran = execute("import gc\ngc.collect()\n1")
        assert (ran.stdout, ran.calls) == ("", [])


def test_a_file_of_one_run_is_not_there_in_another(execute: Execute) -> None:
    for folder in ("/tmp", "/", ".", "/var/tmp"):
        path = f"{folder}/{CANARY}"
        execute(attempt(f"f = open({path!r}, 'w'); f.write('left'); f.close()"))
        assert execute(attempt(f"return open({path!r}).read()")).value is None
        assert not Path(path).exists()


def test_every_run_starts_from_the_same_state(execute: Execute, engine: Engine) -> None:
    source = "[sorted(globals()), hash('x')]"
    if engine.name == "wasm":
        source = f"import sys, gc\n[sorted(sys.modules), len(gc.get_objects()), *{source}]"
    pins = Pins(seed=bytes(32), wall_clock=lambda: 0, monotonic_clock=lambda: 0)
    assert execute(source, pins=pins).value == execute(source, pins=pins).value


def test_a_snippet_sees_its_inputs_and_the_bridge_only(execute: Execute) -> None:
    names = execute("sorted(n for n in globals() if not n.startswith('__'))", inputs={"given": 1}).value
    assert {"tools", "Ok", "Err", "Result", "ToolCallError", "given"} <= set(names)
    assert not {"os", "sys", "host", "engine", "open_file"} & set(names)


# Files --------------------------------------------------------------------------------------------------

READS = {
    "open": "return open(PATH).read()",
    "io.open": "import io; return io.open(PATH).read()",
    "io.FileIO": "import io; return io.FileIO(PATH).read().decode()",
    "io.open_code": "import io; return io.open_code(PATH).read().decode()",
    "os.open": "import os; return os.read(os.open(PATH, os.O_RDONLY), 999).decode()",
    "posix.open": "import posix; return posix.read(posix.open(PATH, 0), 999).decode()",
    "pathlib": "import pathlib; return pathlib.Path(PATH).read_text()",
    "codecs behind json": "import json; return json.codecs.open(PATH).read()",
    "linecache": "import linecache; return ''.join(linecache.getlines(PATH)) or None",
    "fileinput": "import fileinput; return ''.join(fileinput.input(PATH))",
    "shutil": "import shutil, io; shutil.copy(PATH, '/tmp/x'); return open('/tmp/x').read()",
    "tokenize": "import tokenize; return tokenize.open(PATH).read()",
    "zipfile": "import zipfile; return zipfile.ZipFile(PATH).namelist()",
    "sqlite3": "import sqlite3; sqlite3.connect(f'file:{PATH}?mode=ro', uri=True).execute('select 1'); return 'opened'",
    "sqlite attach": (
        "import sqlite3; d = sqlite3.connect(':memory:'); d.execute(f\"attach '{PATH}.db' as x\"); "
        "d.execute('create table x.t(a)'); return 'attached'"
    ),
    "configparser": "import configparser; return configparser.ConfigParser().read(PATH) or None",
    "importlib": ("from importlib.machinery import SourceFileLoader as L; return L('x', PATH).get_data(PATH).decode()"),
    "runpy": "import runpy; return repr(runpy.run_path(PATH))",
    "pkgutil": "import pkgutil; return pkgutil.get_data('json', PATH)",
    "urllib": "import urllib.request; return urllib.request.urlopen('file://' + PATH).read().decode()",
    "xml entity": (
        "import xml.etree.ElementTree as E; "
        "return E.fromstring(f'<!DOCTYPE a [<!ENTITY x SYSTEM \"file://{PATH}\">]><a>&x;</a>').text"
    ),
    "loader of a module": "import json; return json.__loader__.get_data(PATH).decode()",
    "os.stat": "import os; return os.stat(PATH).st_size",
    "os.path.exists": "import os; return os.path.exists(PATH) or None",
    "os.scandir": "import os; return [e.name for e in os.scandir(os.path.dirname(PATH))]",
    "os.listdir": "import os; return os.listdir(os.path.dirname(PATH))",
    "glob": "import glob, os; return glob.glob(os.path.dirname(PATH) + '/*') or None",
    "os.walk": "import os; return list(os.walk(os.path.dirname(PATH))) or None",
    "relative path": "return open('../' * 20 + PATH.lstrip('/')).read()",
    "proc": "return open('/proc/self/root' + PATH).read()",
    "preopened folder": "import os; return [os.open(PATH, 0, dir_fd=fd) for fd in range(3, 9)]",
}


@pytest.mark.req("R4", "R22")
@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_no_file_is_read(execute: Execute, tmp_path: Path, read: str) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text(f"found = '{CANARY}'\n")
    ran = execute(f"PATH = {str(secret)!r}\n{attempt(read)}")
    assert isinstance(ran.outcome, ENDED)
    assert CANARY not in everything(ran)
    if isinstance(ran.outcome, Completed):
        assert ran.value is None
    assert [path.name for path in tmp_path.iterdir()] == ["secret.py"]


WRITES = {
    "open": "open(FOLDER + '/made', 'w').write('x')",
    "os.mkdir": "import os; os.mkdir(FOLDER + '/made')",
    "os.remove": "import os; os.remove(FOLDER + '/kept')",
    "os.rename": "import os; os.rename(FOLDER + '/kept', FOLDER + '/made')",
    "os.symlink": "import os; os.symlink('/etc', FOLDER + '/made')",
    "shutil.rmtree": "import shutil; shutil.rmtree(FOLDER)",
    "pathlib.touch": "import pathlib; pathlib.Path(FOLDER, 'made').touch()",
    "tempfile": "import tempfile; tempfile.NamedTemporaryFile(dir=FOLDER, delete=False)",
    "sqlite3": "import sqlite3; sqlite3.connect(FOLDER + '/made').execute('create table t(a)')",
    "sqlite backup": "import sqlite3; sqlite3.connect(':memory:').execute(f\"vacuum into '{FOLDER}/made'\")",
    "logging": "import logging; logging.FileHandler(FOLDER + '/made').emit(logging.makeLogRecord({}))",
    "zipfile": "import zipfile; zipfile.ZipFile(FOLDER + '/made', 'w').close()",
    "truncate": "import os; os.truncate(FOLDER + '/kept', 0)",
    "chmod": "import os; os.chmod(FOLDER + '/kept', 0o777)",
}


@pytest.mark.req("R4", "R22")
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_no_file_is_written(execute: Execute, tmp_path: Path, write: str) -> None:
    kept = tmp_path / "kept"
    kept.write_text("as it was")
    before = kept.stat()
    execute(f"FOLDER = {str(tmp_path)!r}\n{attempt(write)}")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert kept.read_text() == "as it was"
    assert kept.stat().st_mode == before.st_mode


# Processes, network, environment ------------------------------------------------------------------------

PROCESSES = {
    "os.system": "import os; return os.system(COMMAND)",
    "os.popen": "import os; return os.popen(COMMAND).read()",
    "subprocess.run": "import subprocess; return subprocess.run(COMMAND, shell=True).returncode",
    "subprocess.check_output": "import subprocess; return subprocess.check_output(['sh', '-c', COMMAND])",
    "os.execv": "import os; os.execv('/bin/sh', ['sh', '-c', COMMAND])",
    "os.posix_spawn": "import os; return os.posix_spawn('/bin/sh', ['sh', '-c', COMMAND], {})",
    "os.fork": "import os; return os.fork()",
    "asyncio": (
        "import asyncio; asyncio.run(asyncio.wait_for(asyncio.create_subprocess_shell(COMMAND), 5)); return 'started'"
    ),
    "ctypes": "import ctypes; return ctypes.CDLL(None).system(COMMAND.encode())",
    "_posixsubprocess": "import _posixsubprocess; return _posixsubprocess.fork_exec",
    "multiprocessing": "import multiprocessing, os; p = multiprocessing.Process(target=os.getpid); p.start(); return 'started'",
    "os behind uuid": "import uuid; return uuid.os.system(COMMAND)",
    "os behind random": "import random; return random._os.system(COMMAND)",
    "sys behind re": "import re; return re.enum.sys.modules['os'].system(COMMAND)",
    "sys behind typing": "import typing; return typing.sys.modules['posix'].system(COMMAND)",
    "subclasses": (
        "return [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'Popen'][0](COMMAND, shell=True).wait()"
    ),
    "pickle": "import pickle; return pickle.loads(b'cposix\\nsystem\\n(V' + COMMAND.encode() + b'\\ntR.')",
    "os.kill": f"import os; return os.kill({os.getpid()}, 0) or 'signalled'",
    "thread": "import _thread; return _thread.start_new_thread(print, ())",
    "pty": "import pty; return pty.spawn(['sh', '-c', COMMAND])",
    "webbrowser": "import webbrowser; return webbrowser.open('file:///') or None",
}


@pytest.mark.req("R22", "R24")
@pytest.mark.parametrize("start", PROCESSES.values(), ids=PROCESSES.keys())
def test_no_process_is_started(execute: Execute, tmp_path: Path, start: str) -> None:
    ran = execute(f"COMMAND = {f'touch {tmp_path}/made'!r}\n{attempt(start)}")
    assert isinstance(ran.outcome, ENDED)
    if isinstance(ran.outcome, Completed):
        assert ran.value is None
    assert list(tmp_path.iterdir()) == []


CONNECTIONS = {
    "socket": "import socket; s = socket.socket(); s.connect(('127.0.0.1', PORT)); return 'connected'",
    "_socket": "import _socket; s = _socket.socket(); s.connect(('127.0.0.1', PORT)); return 'connected'",
    "create_connection": "import socket; socket.create_connection(('127.0.0.1', PORT)); return 'connected'",
    "udp": ("import _socket; s = _socket.socket(2, 2); s.sendto(b'x', ('127.0.0.1', PORT)); return 'sent'"),
    "inherited descriptor": "import _socket; return [_socket.socket(fileno=n).getsockname() for n in range(3, 9)]",
    "urllib": "import urllib.request; return urllib.request.urlopen(f'http://127.0.0.1:{PORT}/').read()",
    "http.client": "import http.client; http.client.HTTPConnection('127.0.0.1', PORT).request('GET', '/'); return 'sent'",
    "asyncio": (
        "import asyncio; asyncio.run(asyncio.wait_for(asyncio.open_connection('127.0.0.1', PORT), 5)); return 'connected'"
    ),
    "listening": "import _socket; s = _socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); return s.getsockname()",
    "name lookup": "import _socket; return _socket.getaddrinfo('localhost', 80)",
    "host by name": "import socket; return socket.gethostbyname('localhost')",
    "unpatched socket": (
        "import socket, _socket; s = socket.socket.__new__(socket.socket); _socket.socket.__init__(s); "
        "s.connect(('127.0.0.1', PORT)); return 'connected'"
    ),
    "smtp": "import smtplib; smtplib.SMTP('127.0.0.1', PORT); return 'connected'",
    "imap": "import imaplib; imaplib.IMAP4('127.0.0.1', PORT); return 'connected'",
    "logging": "import logging.handlers as h; h.SocketHandler('127.0.0.1', PORT).createSocket(); return None",
}


@pytest.mark.req("R23")
@pytest.mark.parametrize("connect", CONNECTIONS.values(), ids=CONNECTIONS.keys())
def test_no_connection_is_made(execute: Execute, connect: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        ran = execute(f"PORT = {server.getsockname()[1]}\n{attempt(connect)}")
        assert isinstance(ran.outcome, ENDED)
        if isinstance(ran.outcome, Completed):
            assert ran.value is None
        with pytest.raises(BlockingIOError):
            server.accept()


ENVIRONMENT = {
    "os.environ": "import os; return dict(os.environ) or None",
    "os.environb": "import os; return dict(os.environb) or None",
    "os.getenv": "import os; return os.getenv('COILCLAW_CANARY') or os.getenv('PATH') or os.getenv('HOME')",
    "posix.environ": "import posix; return dict(posix.environ) or None",
    "expandvars": "import os; v = os.path.expandvars('$COILCLAW_CANARY'); return None if v[0] == '$' else v",
    "expanduser": "import os; v = os.path.expanduser('~'); return None if v == '~' else v",
    "proc": "return open('/proc/self/environ').read()",
    "getpass": "import getpass; return getpass.getuser()",
    "pwd": "import pwd; return pwd.getpwuid(0)",
    "os.uname": "import os; return [n for n in os.uname() if n in HOST] or None",
    "socket.gethostname": "import socket; n = socket.gethostname(); return n if n in HOST else None",
    "sys.argv": "import sys; return sys.argv[1:] or None",
    "os.getpid": "import os; return os.getpid() if os.getpid() == HOST_PID else None",
    "sys.executable": "import sys; return sys.executable or None",
    "os.cpu_count": "import os; return os.getloadavg()",
}


@pytest.mark.req("R4")
@pytest.mark.parametrize("look", ENVIRONMENT.values(), ids=ENVIRONMENT.keys())
def test_nothing_of_the_hosts_environment_is_seen(execute: Execute, look: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COILCLAW_CANARY", CANARY)
    host = [socket.gethostname(), os.uname().nodename, os.uname().release, os.uname().version]
    ran = execute(f"HOST, HOST_PID = {host!r}, {os.getpid()}\n{attempt(look)}")
    assert isinstance(ran.outcome, ENDED)
    if isinstance(ran.outcome, Completed):
        assert ran.value is None
    assert CANARY not in everything(ran)
