"""The guest component, compiled once per machine and kept."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import wasmtime
from wasmtime import _bindings, component

from coilclaw.sandbox.errors import EngineUnavailable
from coilclaw.sandbox.wasm.seal import is_sealed, keep

__all__ = ["CompiledGuest", "Progress", "compile_guest", "guest_build"]

Progress = Callable[[float], None]
"""Told every so often, while the one-time compile runs, how many seconds it has taken."""

_FOLDER: Final = Path(__file__).parent
_MAX_WASM_STACK: Final = 32 * 1024 * 1024


class CompiledGuest:
    """The machine code of the guest, the wasmtime engine it belongs to, and what both were made of."""

    def __init__(self, engine: wasmtime.Engine, code: component.Component, build: str) -> None:
        self.engine = engine
        self.code = code
        self.build = build


def guest_build() -> str:
    """Identifies the guest's sources and the tool that built them."""
    try:
        return (_FOLDER / "guest.stamp").read_text()[:16]
    except OSError:
        raise EngineUnavailable(
            "the wasm guest is not part of this installation", hint="run `make guest`, or install a wheel"
        ) from None


def _library_version() -> str:
    """The version of wasmtime, by the name of the folder that it was installed with."""
    found = list(Path(wasmtime.__file__).parents[1].glob("wasmtime-*.dist-info"))
    if len(found) == 1:
        return found[0].name.removeprefix("wasmtime-").removesuffix(".dist-info")
    from importlib.metadata import version  # Takes longer than all the rest of loading the guest.

    return version("wasmtime")


def compile_guest(cache: Path, progress: Progress | None = None) -> CompiledGuest:
    """Load the compiled guest from the cache, compiling it first if this machine never did."""
    config = wasmtime.Config()
    config.epoch_interruption = True
    config.max_wasm_stack = _MAX_WASM_STACK
    config.wasm_component_model = True
    # The library insists, though nothing here is asynchronous.
    _bindings.wasmtime_config_async_stack_size_set(config.ptr(), _MAX_WASM_STACK + 1024 * 1024)
    engine = wasmtime.Engine(config)
    build = f"wasm guest {guest_build()} on wasmtime {_library_version()}"
    kept = cache / f"guest-{_key(build)}.cwasm"
    if is_sealed(kept):
        _read_in(kept)
        try:
            return CompiledGuest(engine, component.Component.deserialize_file(engine, str(kept)), build)
        except wasmtime.WasmtimeError:
            pass  # Made by another wasmtime or for another processor: compile again.
    code = _compile(engine, progress)
    keep(kept, bytes(code.serialize()))
    return CompiledGuest(engine, code, build)


def _read_in(path: Path) -> None:
    """Read a file that is not in memory yet from its beginning to its end.

    The system then holds it in large pieces. Those that page faults would read, here and there, are so small that
    every guest takes half as long again to be made, for as long as they stay.
    """
    if not hasattr(os, "RWF_NOWAIT"):
        return
    part = bytearray(1024 * 1024)
    with suppress(OSError), path.open("rb", buffering=0) as file:
        try:
            os.preadv(file.fileno(), [part], path.stat().st_size // 2, os.RWF_NOWAIT)
        except BlockingIOError:
            while file.readinto(part):
                pass


def _compile(engine: wasmtime.Engine, progress: Progress | None) -> component.Component:
    guest_build()
    done = threading.Event()
    began = time.monotonic()

    def report() -> None:
        while progress is not None and not done.wait(0.1):
            progress(time.monotonic() - began)

    reporter = threading.Thread(target=report, name="coilclaw-compile-progress", daemon=True)
    reporter.start()
    try:
        return component.Component(engine, (_FOLDER / "guest.wasm").read_bytes())
    except OSError as error:
        raise EngineUnavailable(f"cannot read the wasm guest: {error}", hint="reinstall coilclaw") from None
    finally:
        done.set()
        reporter.join()


def _key(build: str) -> str:
    facts = [build, _machine(), str(_MAX_WASM_STACK), _processor()]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:24]


def _machine() -> str:
    return os.uname().machine if hasattr(os, "uname") else "windows"


def _processor() -> str:
    try:
        with Path("/proc/cpuinfo").open("rb") as lines:
            head = lines.read(8192)
        return next((line for line in head.decode(errors="replace").splitlines() if line.startswith("flags")), "")
    except OSError:
        return ""  # wasmtime itself refuses code that was compiled for another processor.
