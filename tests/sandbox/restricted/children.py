"""Confined children on request, for tests that attack the confinement from inside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coilclaw.sandbox.restricted import LAYERS

MIB = 1024 * 1024
CANARY = "canary-4f1c"
NOBODY = 65534
ROOT = os.getuid() == 0
USERS = [pytest.param(None, id="root"), pytest.param(1234, id="user")] if ROOT else [pytest.param(None, id="user")]
EVERYTHING = frozenset(LAYERS)
MACHINE = os.uname().machine
X86 = MACHINE == "x86_64"

NUMBERS = {
    "clone": (56, 220), "clone3": (435, 435), "execveat": (322, 281), "tgkill": (234, 131),
    "pidfd_open": (434, 434), "openat2": (437, 437), "mprotect": (10, 226),
    "pkey_mprotect": (329, 288), "memfd_create": (319, 279), "shmget": (29, 194),
    "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180), "mq_unlink": (241, 181), "shmctl": (31, 195), "semctl": (66, 191),
    "msgctl": (71, 187), "personality": (135, 92),
    "unshare": (272, 97), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "prctl": (157, 167), "seccomp": (317, 277), "inotify_init1": (294, 26), "fanotify_init": (300, 262),
    "landlock_create_ruleset": (444, 444), "futex": (202, 98), "clock_gettime": (228, 113), "clock_settime": (227, 112),
    "capset": (126, 91), "open_by_handle_at": (304, 265),
    "fsopen": (430, 430), "mmap": (9, 222), "rt_sigqueueinfo": (129, 138),
    "sethostname": (170, 161), "reboot": (169, 142),
}  # fmt: skip
NAMED = {name: numbers[0 if X86 else 1] for name, numbers in NUMBERS.items()}


class Children:
    """A process that makes confined children on request."""

    def __init__(self, folder: Path, port: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(Path(__file__).with_name("confined_child.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"COILCLAW_CANARY": CANARY},
            text=True,
        )
        self.folder = folder
        self.names = {
            "folder": str(folder),
            "secret": str(folder / "secret"),
            "port": port,
            "NR": NAMED,
            "CANARY": CANARY,
        }

    def run(
        self,
        source: str,
        *,
        off: frozenset[str] = frozenset(),
        user: int | None = None,
        before: str = "",
        in_parent: str = "",
        memory_bytes: int = 64 * MIB,
        cpu_seconds: int = 10,
        prepare: bool = True,
        channel: int | None = None,
    ) -> dict[str, Any]:
        request = {
            "source": source, "off": sorted(off), "user": user, "before": before, "in_parent": in_parent,
            "memory_bytes": memory_bytes, "cpu_seconds": cpu_seconds, "prepare": prepare, "names": self.names,
            "channel": channel,
        }  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline().strip() or "{}")
        assert "broken" not in answer, answer
        return answer

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


WORKS: list[Any] = [
    {"a": [1, None, "é"]},
    ["1", "22"],
    "0.3333333333333333333333333333",
    19999900000,
    8 * MIB,
    "as usual",
    True,
]
"""What `legitimate` of the child returns when all is well."""
