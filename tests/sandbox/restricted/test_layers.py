"""Each layer of the confinement by itself, and what is said about the layers."""

from __future__ import annotations

import errno
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.sampling import sample
from tests.sandbox.restricted.attempts import (
    ATTEMPTS,
    ATTEMPTS_OF_USERS,
    FILES,
    alone,
    refused,
)
from tests.sandbox.restricted.children import EVERYTHING, NOBODY, ROOT, USERS, WORKS, Children

from coilclaw.confinement import landlock
from coilclaw.sandbox.restricted import LAYERS, survey
from coilclaw.sandbox.restricted.child import confinement, limits, privileges, seccomp

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the layers are Linux's")


HELD_BY_LANDLOCK = [
    *(f"files: {name}" for name in FILES
      if name not in ("path only", "stat", "access", "readlink", "getcwd", "chdir", "chmod", "utime", "statvfs", "xattr",
                      "rename")),
    "processes: exec", "processes: execveat", "processes: spawn", "sockets: connect", "sockets: server",
    *(("others: signal the parent", "others: tgkill") if landlock.version() >= 6 else ()),
]  # fmt: skip


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("name", sample(HELD_BY_LANDLOCK, share=2))
def test_landlock_alone_holds_files_tcp_and_signals(children: Children, name: str, user: int | None) -> None:
    answer = alone(children, "landlock", f"value = {ATTEMPTS[name]}", user=user)
    assert answer["error"][1] in (errno.EACCES, errno.EPERM), answer


@pytest.mark.parametrize(("name", "user"), ATTEMPTS_OF_USERS)
def test_seccomp_alone_holds_everything(children: Children, name: str, user: int | None) -> None:
    refused(alone(children, "seccomp", f"value = {ATTEMPTS[name]}", user=user), name)


def test_descriptors_alone_leave_the_channel_and_nothing_else(children: Children) -> None:
    in_parent = "spare = os.dup(0); os.dup2(spare, 900)"
    answer = alone(children, "descriptors", "value = os.listdir('/proc/self/fd')", in_parent=in_parent, before="")
    assert len(answer["value"]) == 2  # The channel, and the listing itself.
    left = children.run("value = os.listdir('/proc/self/fd')", in_parent=in_parent, off=EVERYTHING)["value"]
    assert "900" in left


def test_descriptors_are_closed_one_by_one_where_there_is_no_better_way(children: Children) -> None:
    without = "def missing(*_): raise OSError(errno.ENOSYS, 'no')\nconfinement.syscall = missing; os.dup2(0, 900)"
    answer = children.run("value = 1", in_parent=without)
    assert answer["layers"] == list(LAYERS)
    answer = alone(children, "descriptors", "value = os.listdir('/proc/self/fd')", in_parent=without, before="")
    assert len(answer["value"]) == 2


@pytest.mark.parametrize("prepare", [True, False])
def test_the_environment_alone_is_empty_wherever_one_looks(children: Children, prepare: bool) -> None:
    look = "value = [dict(os.environ), libc.getenv(b'COILCLAW_CANARY'), CANARY in open('/proc/self/environ').read()]"
    assert alone(children, "environment", look, prepare=prepare)["value"] == [{}, 0, False]
    assert children.run(look, off=EVERYTHING)["value"][2] is True


IDENTITY = """
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
value = {key: status[key].split() for key in ("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs")}
"""


@pytest.mark.skipif(not ROOT, reason="only root has privileges to give up")
@pytest.mark.parametrize("prepare", [True, False])
def test_root_alone_becomes_nobody_without_capabilities(children: Children, prepare: bool) -> None:
    value = alone(children, "user", IDENTITY, prepare=prepare, in_parent="os.setgroups([4, 27])")["value"]
    assert value["Uid"] == value["Gid"] == [str(NOBODY)] * 4
    assert value["Groups"] == []
    for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(value[kind][0], 16) == 0
    for attempt in ("os.setuid(0)", "os.setgroups([0])", "os.chroot('/')"):
        assert alone(children, "user", attempt)["error"][0] == "PermissionError"
    (children.folder / "root-only").write_text("x")
    (children.folder / "root-only").chmod(0o600)
    assert alone(children, "user", "open(folder + '/root-only')")["error"][1] == errno.EACCES


@pytest.mark.skipif(not ROOT, reason="needs another user")
def test_a_user_stays_who_he_is(children: Children) -> None:
    value = alone(children, "user", IDENTITY, user=1234)["value"]
    assert value["Uid"] == ["1234"] * 4
    assert int(value["CapEff"][0], 16) == int(value["CapInh"][0], 16) == 0


@pytest.mark.parametrize("prepare", [True, False])
def test_no_new_privs_alone_is_set_and_memory_is_private(children: Children, prepare: bool) -> None:
    source = IDENTITY + "value['dumpable'] = libc.prctl(3, 0, 0, 0, 0)"
    value = alone(children, "no_new_privs", source, prepare=prepare)["value"]
    assert value["NoNewPrivs"] == ["1"]
    assert value["dumpable"] == 0


@pytest.mark.parametrize("user", USERS)
def test_a_child_dies_with_its_parent(children: Children, user: int | None) -> None:
    """The child holds the pipe on which its parent would have answered: the answer ends when the child does."""
    off = frozenset({"descriptors", "seccomp"})
    # A child that lived on would compute for longer than this test may take.
    assert children.run("while True: pass", in_parent="signal.alarm(1)", off=off, user=user, cpu_seconds=600) == {}


def test_a_child_whose_parent_is_gone_does_not_start(children: Children) -> None:
    before = "pid = os.fork()\nif pid:\n    os.waitpid(pid, 0)\n    os._exit(0)"
    answer = children.run("value = 1", before=before)
    assert answer["failed"][0] == "no_new_privs"
    assert "value" not in answer


@pytest.mark.parametrize("name", ["files: read", "channel: dup", "kernel: pipe", "sockets: inet"])
def test_rlimits_alone_allow_no_further_descriptor(children: Children, name: str) -> None:
    # To duplicate one is to ask for a number, which is not among those that are allowed.
    expected = errno.EINVAL if name == "channel: dup" else errno.EMFILE
    assert alone(children, "rlimits", f"value = {ATTEMPTS[name]}")["error"][1] == expected


def test_rlimits_alone_allow_no_byte_of_a_file(children: Children) -> None:
    before = "opened = os.open(folder + '/grows', os.O_CREAT | os.O_WRONLY)"
    assert alone(children, "rlimits", "os.write(opened, b'x')", before=before)["error"][1] == errno.EFBIG


@pytest.mark.parametrize("prepare", [True, False])
def test_rlimits_alone_leave_nothing_to_raise(children: Children, prepare: bool) -> None:
    kinds = ["CORE", "MEMLOCK", "MSGQUEUE", "NPROC", "FSIZE", "NOFILE", "STACK", "AS", "CPU"]
    source = f"value = [resource.getrlimit(getattr(resource, 'RLIMIT_' + kind)) for kind in {kinds}]"
    limits = dict(zip(kinds, alone(children, "rlimits", source, prepare=prepare)["value"], strict=True))
    assert all(limits[kind] == [0, 0] for kind in kinds[:6])
    assert limits["STACK"][0] == limits["STACK"][1]
    assert limits["AS"][0] == limits["AS"][1] > 0
    assert limits["CPU"] == [10, 11]


@pytest.mark.parametrize("name", ["processes: fork", "processes: thread"])
def test_rlimits_alone_allow_a_user_no_process(children: Children, name: str) -> None:
    user = 1234 if ROOT else None  # The kernel does not count root's.
    answer = alone(children, "rlimits", f"value = {ATTEMPTS[name]}", user=user)
    assert answer["error"][0] in ("BlockingIOError", "RuntimeError")


# What apply and survey say --------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_that_is_off_is_not_active(children: Children, layer: str) -> None:
    answer = children.run("value = 1", off=frozenset({layer}))
    assert answer["layers"] == [name for name in LAYERS if name != layer]
    assert answer["after"] == WORKS
    assert [each.name for each in survey({layer}) if each.state == "off"] == [layer]


def test_a_layer_that_fails_is_named_and_nothing_runs(children: Children) -> None:
    broken = "def broken(): yield libc.prctl, (-1,)\nconfinement.landlock.steps = broken"
    assert children.run("value = 1", in_parent=broken)["failed"][0] == "landlock"
    broken = "def broken(): yield os.setuid, (0,)\nprivileges.steps = broken"
    assert children.run("value = 1", in_parent=broken, user=1234 if ROOT else None)["failed"][0] == "user"


@pytest.mark.parametrize("number", [0, 1, 5, 700])
def test_any_descriptor_can_be_the_channel(children: Children, number: int) -> None:
    """The number is part of the filter; the answer comes over it."""
    answer = children.run(f"value = os.write({number}, b'')", channel=number)
    assert answer["layers"] == list(LAYERS)
    assert answer["value"] == 0
    refused(children.run(f"os.write({number + 1}, b'')", channel=number))


def test_no_memory_or_no_time_is_a_mistake(children: Children) -> None:
    with pytest.raises(AssertionError, match="a child needs memory and time"):
        children.run("value = 1", memory_bytes=0)


def test_survey_changes_nothing_even_with_threads() -> None:
    before = Path("/proc/self/status").read_text()
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.extend(survey()))
    thread.start()
    thread.join()
    after = Path("/proc/self/status").read_text()
    for key in ("Uid", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp"):
        assert [line for line in before.splitlines() if line.startswith(key)] == [
            line for line in after.splitlines() if line.startswith(key)
        ]
    assert [layer.name for layer in found] == list(LAYERS)
    assert {layer.state for layer in found} == {"active"}
    assert all(layer.detail for layer in found)


def test_an_unknown_layer_cannot_be_off() -> None:
    with pytest.raises(ValueError, match="there is no layer apparmor; the layers are rlimits"):
        survey(["apparmor"])


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSYS, "older than 5.13"),
        (errno.EOPNOTSUPP, "disabled at boot"),
        (errno.EPERM, "container"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_landlock_says_why_it_is_missing(monkeypatch: pytest.MonkeyPatch, number: int, reason: str) -> None:
    def refuse(*_: int) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(landlock, "syscall", refuse)
    layer = next(layer for layer in survey() if layer.name == "landlock")
    assert layer.state == "unavailable"
    assert reason in layer.detail


def test_landlock_takes_every_right_of_the_kernel() -> None:
    files, ports, scopes = landlock.rights()
    version = landlock.version()
    known = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16, 6: 16, 7: 16}
    assert files == 2 ** known[version] - 1 if version in known else files >= 2**16 - 1
    assert (ports >= 3) == (version >= 4)
    assert (scopes >= 3) == (version >= 6)


def test_seccomp_says_why_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "PROCESSORS", ())
    assert "no filter for this processor" in str(seccomp.unavailable())
    monkeypatch.undo()
    monkeypatch.setattr(seccomp, "_PR_SET_SECCOMP", 9999)
    assert "does not accept filters" in str(seccomp.unavailable())


@pytest.mark.parametrize(
    ("held", "table", "reason"),
    [
        (0, "0 0 4294967295", "without CAP_SETUID"),
        (1 << 7, "0 0 4294967295", "without CAP_SETGID"),
        (0b11 << 6, "0 1000 1", "does not exist in this user namespace"),
    ],
)
def test_root_that_cannot_change_users_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, held: int, table: str, reason: str
) -> None:
    (tmp_path / "map").write_text(table)
    monkeypatch.setattr(privileges, "_is_root", lambda: True)
    monkeypatch.setattr(privileges, "capabilities", lambda: held)
    monkeypatch.setattr(privileges, "_MAPS", (str(tmp_path / "map"),))
    available, detail = privileges.state_of_user()
    assert not available
    assert reason in detail


def test_other_systems_have_what_posix_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    for module in (confinement, limits, privileges):
        monkeypatch.setattr(module, "_ON_LINUX", False)
    layers = {layer.name: layer for layer in survey()}
    assert [name for name, layer in layers.items() if layer.state == "unavailable"] == [
        "no_new_privs",
        "landlock",
        "seccomp",
    ]
    assert all("darwin" in layer.detail for layer in layers.values() if layer.state == "unavailable")
    assert "does not bound memory" in layers["rlimits"].detail


def test_a_child_of_another_system_has_what_posix_has(children: Children) -> None:
    pretend = "sys.platform = 'darwin'\nfor module in (confinement, limits, privileges): module._ON_LINUX = False"
    answer = children.run("value = len(os.listdir('/proc/self/fd'))", in_parent=pretend, off=frozenset({"rlimits"}))
    assert answer["layers"] == ["environment", "descriptors", "user"]
    assert answer["value"] == 2
    answer = children.run("os.open(secret, os.O_RDONLY)", in_parent=pretend)
    assert answer["layers"] == ["rlimits", "environment", "descriptors", "user"]
    assert answer["error"][1] == errno.EMFILE


def test_windows_has_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "name", "nt")
    assert {layer.state for layer in survey()} == {"unavailable"}
