"""The wasm engine. The only package that imports wasmtime."""

from coilclaw.sandbox.wasm.component import compile_guest, guest_build
from coilclaw.sandbox.wasm.engine import WasmEngine

__all__ = ["WasmEngine", "compile_guest", "guest_build"]
