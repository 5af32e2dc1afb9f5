"""What a child of the restricted engine says, and what it does not say: nothing is taken on trust."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import struct
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.sandbox.conftest import MIB, Execution, RecordingHost
from tests.sandbox.restricted.conftest import holed

from coilclaw.sandbox import (
    Completed,
    Crashed,
    Deadline,
    Failed,
    Limits,
    OutOfMemory,
    OutputExceeded,
    Pins,
    RunEnded,
)
from coilclaw.sandbox.channel import ChildEnded
from coilclaw.sandbox.conversation import Conversation
from coilclaw.sandbox.restricted import RestrictedEngine
from coilclaw.sandbox.restricted.child.requests import OUT_OF_MEMORY_EXIT
from coilclaw.sandbox.restricted.warm_parent import Child
from coilclaw.sandbox.wire import FRAME_LIMIT, LENGTH, frame


def converse(sent: bytes, *, seconds: float = 2.0) -> str | Exception:
    """What the host makes of a child that sends these bytes and hangs up."""
    ours, theirs = socket.socketpair()
    report, reporting = socket.socketpair()
    deadline = Deadline(seconds)
    host = RecordingHost({}, deadline, 100_000)

    reporting.close()  # As if the child's parent were gone: nobody will tell how it ended.

    def attack() -> None:
        with theirs:
            try:
                theirs.sendall(sent)
                theirs.shutdown(socket.SHUT_WR)
                while theirs.recv(65536):
                    pass
            except OSError:
                pass

    attacker = threading.Thread(target=attack, daemon=True)
    attacker.start()
    try:
        with Child(ours, report, set()) as child:
            return Conversation(child, host, deadline, Pins()).until_the_end()
    except (ChildEnded, RunEnded) as error:
        return error
    finally:
        attacker.join(60)


KINDS = ["call", "begin", "wait", "preflight", "write", "sleep", "wall", "monotonic", "end", "ready", "broken", "x"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.lists(st.one_of(JSON, st.integers(-1, 10**6), st.text(max_size=30)), max_size=4)
FRAMES = st.one_of(
    st.tuples(st.sampled_from(KINDS), ARGUMENTS, JSON).map(
        lambda parts: frame(json.dumps([parts[0], *parts[1]]).encode() + b"\n" + json.dumps(parts[2]).encode())
    ),
    st.binary(max_size=60).map(frame),
    st.binary(max_size=60),
    st.integers(0, 2**32 - 1).map(lambda size: struct.pack("!I", size)),
)


@given(st.lists(FRAMES, max_size=6))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_nothing_a_child_sends_confuses_the_host(frames: list[bytes]) -> None:
    # Sleeps that a frame asks for are cut short by the deadline.
    answer = converse(b"".join(frames), seconds=0.3)
    assert isinstance(answer, str | ChildEnded | RunEnded)


@pytest.mark.parametrize(
    "sent",
    {
        "a length beyond the limit": LENGTH.pack(FRAME_LIMIT + 1) + b"x",
        "the largest length": b"\xff\xff\xff\xff",
        "half a length": b"\x00\x00",
        "half a frame": LENGTH.pack(100) + b"[",
        "an empty frame": LENGTH.pack(0),
        "no header": frame(b"\n{}"),
        "a header that is an object": frame(b'{"call": 1}\n{}'),
        "a header of nested arrays": frame(b"[" * 100_000),
        "a boolean as a line": frame(b'["call", "a", true]\n{}'),
        "a float as a line": frame(b'["call", "a", 1.5]\n{}'),
        "a tool that is a list": frame(b'["call", ["a"], 1]\n{}'),
        "too many parts": frame(b'["call", "a", 1, 2]\n{}'),
        "output that is not text": frame(b'["write", 1]\n{"a": 1}'),
        "output that is not JSON": frame(b'["write", 1]\nhello'),
        "output that is not UTF-8": frame(b'["write", 1]\n"\xff"'),
        "an end that is not UTF-8": frame(b'["end"]\n\xff\xfe'),
        "a pickle": frame(b"\x80\x04\x95\x1f\x00\x00\x00.\n"),
        "a header of megabytes": frame(b"[" + b"{}," * 10**6 + b"1]\n1"),
        "output that is a large object": frame(b'["write", 1]\n[' + b"{}," * 10**6 + b"1]"),
        "a wait without end": frame(b'["wait", 1' + b"0" * 4000 + b"]\n1"),
        "a sleep without end": frame(b'["sleep", 1' + b"0" * 4000 + b"]\n1"),
        "a sleep into the past": frame(b'["sleep", -5]\n1'),
        "the shortest sleep into the past": frame(b'["sleep", -1]\n1'),
        "a sleep that is a boolean": frame(b'["sleep", true]\n1'),
        "a sleep that is no number": frame(b'["sleep", NaN]\n1'),
        "an infinite sleep": frame(b'["sleep", Infinity]\n1'),
        "a sleep that is text": frame(b'["sleep", "1"]\n1'),
        "a sleep of centuries": frame(b'["sleep", 9223372036854775808]\n1'),
        "a wait into the past": frame(b'["wait", -2]\n1'),
        "a stream that is a boolean": frame(b'["write", true]\n"x"'),
        "nothing": b"",
    }.values(),
    ids=lambda sent: repr(sent[:24]),
)  # fmt: skip
def test_a_frame_that_breaks_the_rules_ends_the_conversation(sent: bytes) -> None:
    ended = converse(sent)
    assert isinstance(ended, ChildEnded)
    is_half = sent in (b"", b"\x00\x00", LENGTH.pack(100) + b"[")
    assert is_half or "protocol" in ended.how


def test_a_frame_that_never_ends_is_ended_by_the_deadline() -> None:
    ours, theirs = socket.socketpair()
    report, reporting = socket.socketpair()
    with theirs, reporting, Child(ours, report, set()) as child:
        theirs.sendall(LENGTH.pack(100) + b"[")
        deadline = Deadline(0.2)
        with pytest.raises(RunEnded):
            child.receive(deadline)


def test_bytes_that_trickle_in_are_ended_by_the_deadline() -> None:
    ours, theirs = socket.socketpair()
    report, reporting = socket.socketpair()
    stop = threading.Event()

    def trickle() -> None:
        with theirs, contextlib.suppress(OSError):
            theirs.sendall(LENGTH.pack(10**6))
            while not stop.wait(0.01):
                theirs.sendall(b"x")

    thread = threading.Thread(target=trickle)
    thread.start()
    with reporting, Child(ours, report, set()) as child, pytest.raises(RunEnded):
        child.receive(Deadline(0.3))  # The whole frame would take hours.
    stop.set()
    thread.join()


@pytest.mark.parametrize(
    ("reported", "how"),
    [
        ({"signal": signal.SIGKILL}, {"silent": True}),  # It closed the conversation and lived on.
        ({"code": OUT_OF_MEMORY_EXIT}, {"code": OUT_OF_MEMORY_EXIT}),  # It had ended, and the machine was busy.
        ({"signal": signal.SIGSEGV}, {"signal": signal.SIGSEGV}),
    ],
)
def test_how_a_child_ended_is_known_however_late_its_parent_says_so(
    reported: dict[str, int], how: dict[str, Any]
) -> None:
    ours, theirs = socket.socketpair()
    report, reporting = socket.socketpair()

    def report_when_asked_to_kill() -> None:
        assert reporting.recv(1) == b""
        reporting.sendall(json.dumps(reported).encode() + b"\n")

    parent = threading.Thread(target=report_when_asked_to_kill)
    parent.start()
    with reporting, Child(ours, report, set()) as child:
        theirs.close()
        with pytest.raises(ChildEnded) as ended:
            child.receive(Deadline(10))
        parent.join()
    assert ended.value.how == how


FAULT = "import sys\nsys.modules['ctypes'].string_at(0)"
FULL = "held = []\ntry:\n    while True: held.append(b'x' * 100_000)\nexcept MemoryError: pass\n"


def test_an_interpreter_that_dies_of_a_failed_allocation_is_out_of_memory(tmp_path: Path) -> None:
    engine = holed(tmp_path, "no_guards_at_all")
    try:
        assert isinstance(Execution(memory_bytes=64 * MIB).of(FAULT, engine).outcome, Crashed)
        outcome = Execution(memory_bytes=64 * MIB).of(FULL + FAULT, engine).outcome
        assert outcome == OutOfMemory(memory_bytes=64 * MIB)
    finally:
        engine.close()


def test_a_child_that_does_not_read_is_ended_by_the_deadline() -> None:
    ours, theirs = socket.socketpair()
    report, reporting = socket.socketpair()
    with theirs, reporting, Child(ours, report, set()) as child, pytest.raises(RunEnded):
        child.send(b"x" * 10**7, Deadline(0.2))


def test_a_forged_end_is_only_ever_an_outcome_of_that_run(tmp_path: Path) -> None:
    engine = holed(tmp_path, "no_guards_at_all")
    forge = (
        "import os, json, struct\ndef say(header, body):\n"
        "    data = json.dumps(header).encode() + b'\\n' + body\n"
        "    for descriptor in range(64):\n"
        "        try: os.write(descriptor, struct.pack('!I', len(data)) + data)\n"
        "        except OSError: pass\n"
    )
    try:
        ends: dict[bytes, type | tuple[type, ...]] = {
            b'{"status": "completed", "value": "forged"}': Completed,
            b'{"status": "approved"}': Crashed,
            b'{"status": "completed"}': Crashed,
            b'{"status": "completed", "value": NaN}': Crashed,
            b"[" * 1000: (Failed, Crashed),  # Too deep, or cut off: parsers of different Pythons say one or the other.
            b"nonsense": Crashed,
        }
        for body, kind in ends.items():
            assert isinstance(Execution().of(f"{forge}say(['end'], {body!r})\nwhile True: pass", engine).outcome, kind)
        assert isinstance(Execution().of(f"{forge}say(['ready'], b'1')\n1", engine).outcome, Crashed)
        assert Execution().of("1 + 1", engine).value == 2
    finally:
        engine.close()


def test_limits_are_not_what_a_child_says_they_are(restricted: RestrictedEngine) -> None:
    host = RecordingHost({}, Deadline(5), 1000)
    assert host.stdout == ""
    ran = Execution(output_bytes=1000).of("'x' * 2000", restricted)
    assert ran.outcome == OutputExceeded(output_bytes=1000)
    assert Limits().output_bytes > 1000


def test_what_a_child_said_last_counts_though_it_does_not_read_any_more() -> None:
    """A child that runs out of memory while it waits for an answer may have ended before it comes."""
    ours, theirs = socket.socketpair()
    report, reporting = socket.socketpair()
    with theirs:
        theirs.sendall(frame(b'["monotonic"]\nnull') + frame(b'["end"]\n{"status":"out_of_memory"}'))
    with reporting, Child(ours, report, set()) as child:
        said = Conversation(child, RecordingHost({}, Deadline(60), 0), Deadline(60), Pins()).until_the_end()
    assert said == '{"status":"out_of_memory"}'


def test_no_answer_is_taken_for_the_answer_to_another_question(restricted: RestrictedEngine) -> None:
    tools = {"large": lambda: "x" * 15_000_000, "small": lambda: 1}
    source = "try: tools.large()\nexcept MemoryError: pass\ntools.small().value"
    assert isinstance(Execution(memory_bytes=8 * MIB, tools=tools).of(source, restricted).outcome, OutOfMemory)
    assert Execution(memory_bytes=16 * MIB, tools=tools).of(source, restricted).value == 1
