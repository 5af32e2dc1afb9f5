"""One instance of the guest, linked to nothing but the functions in this file.

The component is built against WASI, but no WASI is linked: no file system, no sockets, no
environment, no standard streams. What the guest's Python needs to live (clocks, entropy, an empty
environment) is answered here; every other import ends the instance when it is called.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

import wasmtime
from wasmtime import component

from coilclaw.sandbox.deadline import Deadline
from coilclaw.sandbox.engine import Host, Pins
from coilclaw.sandbox.outcomes import RunEnded
from coilclaw.sandbox.wasm import abi
from coilclaw.sandbox.wasm.component import CompiledGuest

__all__ = ["Guest", "GuestTrap", "link_guest"]

_WASI: Final = "@0.2.9"
_MOST_ENTROPY: Final = 64 * 1024
_SECOND: Final = abi.VALUE_SIZE
_STILL: Final = Pins(seed=b"", wall_clock=lambda: 0, monotonic_clock=lambda: 0)
"""Until a run begins."""

_running: dict[int, Guest] = {}
"""The guest that runs on each thread: a guest calls back on the thread that called it."""


class GuestTrap(Exception):
    """The instance ended by itself; the message is wasmtime's."""


class Guest:
    """A Python interpreter of its own, used for one run."""

    host: Host
    """From the beginning of the run."""

    def __init__(self, compiled: CompiledGuest, linker: component.Linker, memory_bytes: int) -> None:
        self._store = wasmtime.Store(compiled.engine)
        self._store.set_limits(memory_size=memory_bytes)
        self._store.set_epoch_deadline(1)
        abi.epoch_callback(self._store, self._tick)
        self.ended: RunEnded | None = None
        self.failure: BaseException | None = None
        self.deadline: Deadline | None = None
        self.pins = _STILL
        self.entropy: Callable[[int], bytes] = bytes
        instance = linker.instantiate(self._store, compiled.code)
        run = instance.get_func(self._store, "run")
        assert run is not None
        self._run = run
        # Every guest is touched in the same way before its run, so that each run starts from the same state.
        self._enter("")

    def run(self, request: str, memory_bytes: int, host: Host, deadline: Deadline, pins: Pins) -> str:
        """Run a request to its end. Raises RunEnded, GuestTrap, or what a host function raised."""
        self._store.set_limits(memory_size=memory_bytes)
        self.host = host
        self.deadline = deadline
        self.pins = pins
        self.entropy = pins.entropy()
        return self._enter(request)

    def _enter(self, request: str) -> str:
        thread = threading.get_ident()
        outer = _running.get(thread)  # A tool called in place may run a snippet of its own.
        _running[thread] = self
        try:
            return abi.call_function(self._store, self._run, request.encode()).decode()
        except wasmtime.WasmtimeError as error:
            if self.failure is not None:
                raise self.failure from None
            if self.ended is not None:
                raise self.ended from None
            raise GuestTrap(str(error)) from None
        finally:
            if outer is None:
                del _running[thread]
            else:
                _running[thread] = outer

    def _tick(self) -> int:
        outcome = self.deadline.outcome if self.deadline is not None else None
        if outcome is None:
            return 0
        self.ended = RunEnded(outcome)
        return abi.trap("the run has ended")

    def close(self) -> None:
        self._store.close()


def link_guest(compiled: CompiledGuest) -> component.Linker:
    """Define every import of the component: the world's functions, the few answers, and traps."""
    linker = component.Linker(compiled.engine)
    with linker.root() as root:
        abi.add_function(root, "call", _guarded(_call))
        abi.add_function(root, "begin", _guarded(_begin))
        abi.add_function(root, "wait", _guarded(_wait))
        abi.add_function(root, "withdraw", _guarded(_withdraw))
        abi.add_function(root, "linger", _guarded(_linger))
        abi.add_function(root, "preflight", _guarded(_preflight))
        abi.add_function(root, "write", _guarded(_write))
        abi.add_function(root, "sleep", _guarded(_sleep))
        with root.add_instance(f"wasi:clocks/monotonic-clock{_WASI}") as instance:
            abi.add_function(instance, "now", _guarded(_monotonic))
            instance.add_func("resolution", lambda store: 1)
        with root.add_instance(f"wasi:clocks/wall-clock{_WASI}") as instance:
            abi.add_function(instance, "now", _guarded(_wall))
            abi.add_function(instance, "resolution", _guarded(lambda guest, args, results: abi.give_moment(results, 1)))
        with root.add_instance(f"wasi:random/random{_WASI}") as instance:
            abi.add_function(instance, "get-random-bytes", _guarded(_random_bytes))
        with root.add_instance(f"wasi:filesystem/preopens{_WASI}") as instance:
            abi.add_function(instance, "get-directories", _guarded(_empty_list))
        with root.add_instance(f"wasi:cli/environment{_WASI}") as instance:
            abi.add_function(instance, "get-environment", _guarded(_empty_list))
            abi.add_function(instance, "get-arguments", _guarded(_empty_list))
        for stream in ("stdin", "stdout", "stderr"):
            with root.add_instance(f"wasi:cli/terminal-{stream}{_WASI}") as instance:
                instance.add_func(f"get-terminal-{stream}", lambda store: None)
    linker.define_unknown_imports_as_traps(compiled.code)
    return linker


def _guarded(function: Callable[[Guest, int, int], None]) -> abi.RawFunction:
    """Nothing may escape into C: an exception becomes a trap and is raised again behind the guest."""

    def guarded(data: Any, context: Any, kind: Any, args: int, nargs: int, results: int, nresults: int) -> int:
        guest = _running[threading.get_ident()]
        try:
            function(guest, args, results)
        except RunEnded as ended:
            guest.ended = ended
            return abi.trap("the run has ended")
        except BaseException as error:
            guest.failure = error
            return abi.trap("a host function failed")
        return 0

    return guarded


def _call(guest: Guest, args: int, results: int) -> None:
    abi.give_string(results, guest.host.call(*abi.take_call(args)))


def _begin(guest: Guest, args: int, results: int) -> None:
    abi.give_u32(results, guest.host.begin(*abi.take_call(args)))


def _wait(guest: Guest, args: int, results: int) -> None:
    nanoseconds = abi.take_s64(args)
    abi.give_string(results, guest.host.wait(None if nanoseconds < 0 else nanoseconds / 1e9))


def _withdraw(guest: Guest, args: int, results: int) -> None:
    guest.host.withdraw(abi.take_u32(args))


def _linger(guest: Guest, args: int, results: int) -> None:
    guest.host.linger(abi.take_string(args).decode())


def _preflight(guest: Guest, args: int, results: int) -> None:
    abi.give_string(results, guest.host.preflight(abi.take_string(args)))


def _write(guest: Guest, args: int, results: int) -> None:
    guest.host.write(abi.take_u32(args), abi.take_string(args + _SECOND).decode())


def _sleep(guest: Guest, args: int, results: int) -> None:
    left = guest.pins.asleep(abi.take_u64(args)) / 1e9
    if guest.deadline is not None:
        guest.deadline.sleep(left)


def _empty_list(guest: Guest, args: int, results: int) -> None:
    abi.give_bytes(results, b"")


def _wall(guest: Guest, args: int, results: int) -> None:
    abi.give_moment(results, guest.pins.wall_clock())


def _monotonic(guest: Guest, args: int, results: int) -> None:
    abi.give_u64(results, guest.pins.monotonic_clock())


def _random_bytes(guest: Guest, args: int, results: int) -> None:
    size = abi.take_u64(args)
    if size > _MOST_ENTROPY:
        raise RuntimeError(f"{size} random bytes at once")
    abi.give_bytes(results, guest.entropy(size))
