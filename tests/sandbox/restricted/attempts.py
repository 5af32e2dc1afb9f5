"""What a confined child must fail at, tried with all of Python, ctypes and bare system calls."""

from __future__ import annotations

import errno
import itertools
from typing import Any

import pytest
from tests.sampling import sample
from tests.sandbox.restricted.children import EVERYTHING, USERS, WORKS, Children

FILES = {
    "read": "os.open(secret, os.O_RDONLY)",
    "read by name": "open(secret).read()",
    "write": "os.open(secret, os.O_WRONLY)",
    "create": "os.open(folder + '/made', os.O_CREAT | os.O_WRONLY)",
    "temporary": "os.open(folder, os.O_TMPFILE | os.O_RDWR)",
    "path only": "os.open(secret, os.O_PATH)",
    "folder": "os.open('/', os.O_RDONLY | os.O_DIRECTORY)",
    "openat2": "syscall(NR['openat2'], -100, secret.encode(), bytes(24), 24)",
    "list": "os.listdir('/')",
    "stat": "os.stat(secret)",
    "access": "os.access(secret, os.R_OK) or os.chdir('/')",  # Says False instead of raising.
    "readlink": "os.readlink('/proc/self/exe')",
    "getcwd": "os.getcwd()",
    "chdir": "os.chdir('/')",
    "mkdir": "os.mkdir(folder + '/made-folder')",
    "rmdir": "os.rmdir(folder + '/sub')",
    "rename": "os.rename(secret, secret + '2'); os.rename(secret + '2', secret)",
    "link": "os.link(secret, folder + '/hard')",
    "symlink": "os.symlink('nowhere', folder + '/soft')",
    "chmod": "os.chmod(secret, 0o666)",
    "truncate": "os.truncate(secret, 100)",
    "fifo": "os.mkfifo(folder + '/fifo')",
    "utime": "os.utime(secret)",
    "statvfs": "os.statvfs('/')",
    "xattr": "os.listxattr(secret)",
    "environment": "open('/proc/self/environ', 'rb').read()",
    "own memory": "open('/proc/self/mem', 'rb+')",
    "maps": "open('/proc/self/maps').read()",
    "urandom": "open('/dev/urandom', 'rb')",
}
SOCKETS = {
    "inet": "socket.socket(socket.AF_INET, socket.SOCK_STREAM)",
    "udp": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "unix": "socket.socket(socket.AF_UNIX)",
    "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "pair": "socket.socketpair()",
    "connect": "socket.create_connection(('127.0.0.1', port)).close()",
    "connect unix": "socket.socket(socket.AF_UNIX).connect(folder + '/socket')",
    "resolve": "socket.create_connection(('localhost', port)).close()",
    "server": "socket.create_server(('127.0.0.1', 0))",
}
PROCESSES = {
    "fork": "os.fork() or os._exit(0)",
    "clone": "syscall(NR['clone'], 17, 0, 0, 0, 0) or os._exit(0)",
    "clone3": "syscall(NR['clone3'], bytes(32) + (17).to_bytes(8, 'little') + bytes(24), 64) or os._exit(0)",
    "exec": "os.execv('/bin/true', ['true'])",
    "execveat": "syscall(NR['execveat'], -100, b'/bin/true', 0, 0, 0)",
    "spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "thread": "threading.Thread(target=int).start()",
}
OTHERS = {
    "signal the parent": "os.kill(target, 0)",
    "signal the group": "os.killpg(group, 0)",
    "tgkill": "syscall(NR['tgkill'], target, target, 0)",
    "queue a signal": "syscall(NR['rt_sigqueueinfo'], target, 0, (0).to_bytes(4, 'little') + bytes(4) + (-1).to_bytes(4, 'little', signed=True) + bytes(116))",
    "pidfd": "syscall(NR['pidfd_open'], target, 0)",
    "limits of another": "resource.prlimit(target, resource.RLIMIT_CPU)",
    "priority of another": "os.getpriority(os.PRIO_PROCESS, target)",
    "session": "os.getsid(target)",
    "its CPU clock": "syscall(NR['clock_gettime'], (~target << 3 | 2) & 0xFFFFFFFF, bytearray_address)",
}
MEMORY = {
    "executable": "mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_EXEC)",
    "made executable": "syscall(NR['mprotect'], page, 4096, 5)",
    "made executable with a key": "syscall(NR['pkey_mprotect'], page, 4096, 5, -1)",
    "shared": "mmap.mmap(-1, 4096)",
    "of the channel": "syscall(NR['mmap'], 0, 4096, 1, 2, channel, 0)",
    "anonymous file": "syscall(NR['memfd_create'], b'x', 0)",
    # Each is removed again, in case it can be made.
    "shared segment": "syscall(NR['shmctl'], syscall(NR['shmget'], 0, 4096, 0o1600), 0, 0)",
    "semaphores": "syscall(NR['semctl'], syscall(NR['semget'], 0, 1, 0o1600), 0, 0)",
    "messages": "syscall(NR['msgctl'], syscall(NR['msgget'], 0, 0o1600), 0, 0)",
    "message queue": "syscall(NR['mq_open'], b'coilclaw-test', 0o102, 0o600, 0), syscall(NR['mq_unlink'], b'coilclaw-test')",
    "readable is executable": "syscall(NR['personality'], 0x0400000)",
}
CHANNEL = {
    "dup": "os.dup(channel)",
    "dup2": "os.dup2(channel, 9)",
    "duplicate by fcntl": "fcntl.fcntl(channel, 0, 5)",
    "flags": "os.set_blocking(channel, False)",
    "owner of its signals": "fcntl.fcntl(channel, 8, target)",
    "ioctl": "fcntl.ioctl(channel, 0x541B, bytes(4))",
    "pass a descriptor": "socket.send_fds(over, [b'x'], [channel])",
    "receive descriptors": "over.recvmsg(1, 64, socket.MSG_DONTWAIT)",
    "send": "over.send(b'')",
    "urgent data": "over.recv(1, socket.MSG_OOB | socket.MSG_DONTWAIT)",
    "who is there": "over.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)",
    "its name": "over.getpeername()",
    "writev": "os.writev(channel, [b''])",
    "stat": "os.fstat(channel)",
    "other descriptor": "os.read(0, 0)",
    "no descriptor": "os.write(2, b'')",
}
KERNEL = {
    "setuid": "os.setuid(0)",
    "setgroups": "os.setgroups([0])",
    "capabilities": "syscall(NR['capset'], (0x20080522).to_bytes(4, 'little') + bytes(4), b'\\xff' * 24)",
    "raise a limit": "resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))",
    "ask for a limit": "resource.getrlimit(resource.RLIMIT_AS)",
    "user namespace": "syscall(NR['unshare'], 0x10000000)",
    "mount namespace": "syscall(NR['unshare'], 0x20000)",
    "mount": "syscall(NR['mount'], b'none', folder.encode(), b'tmpfs', 0, 0)",
    "unmount": "syscall(NR['umount2'], b'/nonexistent', 0)",
    "new mount": "syscall(NR['fsopen'], b'tmpfs', 0)",
    "chroot": "os.chroot('/')",
    "pivot_root": "syscall(NR['pivot_root'], b'.', b'.')",
    "seccomp by prctl": "syscall(NR['prctl'], 22, 2, 0)",
    "seccomp": "syscall(NR['seccomp'], 1, 0, 0)",
    "dumpable": "syscall(NR['prctl'], 4, 1, 0, 0, 0)",
    "forget the parent": "syscall(NR['prctl'], 1, 0, 0, 0, 0)",
    "landlock": "syscall(NR['landlock_create_ruleset'], 0, 0, 1)",
    "inotify": "syscall(NR['inotify_init1'], 0)",
    "fanotify": "syscall(NR['fanotify_init'], 0, 0)",
    "epoll": "select.epoll()",
    "pipe": "os.pipe()",
    "shared futex": "syscall(NR['futex'], page, 1, 1, 0, 0, 0)",
    "timer": "signal.setitimer(signal.ITIMER_REAL, 1000)",
    "signal handler": "signal.signal(signal.SIGXCPU, signal.SIG_IGN)",
    "name of the machine": "os.uname()",
    "set the clock": "syscall(NR['clock_settime'], 0, 0)",
    "name the machine": "syscall(NR['sethostname'], b'x', 1)",
    "a handle of a file": "syscall(NR['open_by_handle_at'], -100, bytes(8), 0)",
    "affinity": "os.sched_setaffinity(0, {0})",
    "new session": "os.setsid()",
    "reboot": "syscall(NR['reboot'], 0, 0, 0, 0)",
}
ATTEMPTS = {
    f"{group}: {name}": source
    for group, attempts in {
        "files": FILES, "sockets": SOCKETS, "processes": PROCESSES, "others": OTHERS, "memory": MEMORY,
        "channel": CHANNEL, "kernel": KERNEL,
    }.items()
    for name, source in attempts.items()
}  # fmt: skip

BEFORE = """
target, group = os.getppid(), os.getpgrp()
over = socket.socket(fileno=channel)
page = libc.valloc; page.restype = ctypes.c_void_p; page = page(4096)
bytearray_address = page
KEPT.append(over)
"""
"""An attacker with native code knows all this and needs no call for it."""

REFUSED_OTHERWISE = {
    "processes: thread": "RuntimeError",
    "sockets: resolve": "gaierror",
    "kernel: raise a limit": "ValueError",
}
"""Where Python makes something else of EPERM."""

UNSAFE_WITHOUT_CONFINEMENT = {
    "files: rename", "kernel: mount", "kernel: unmount", "kernel: chroot", "kernel: pivot_root", "kernel: reboot",
    "kernel: set the clock", "kernel: name the machine", "kernel: seccomp by prctl", "kernel: seccomp",
    "kernel: a handle of a file", "kernel: capabilities", "files: rmdir", "kernel: new session", "memory: of the channel",
    "processes: exec", "processes: execveat", "channel: urgent data",
}  # fmt: skip
"""Would change the machine, or fails there for another reason."""


def refused(answer: dict[str, Any], name: str = "") -> None:
    """The attempt failed with EPERM, and the child is alive and well."""
    assert answer["exit"] == 0, answer
    kind, number, _ = answer["error"]
    assert kind == REFUSED_OTHERWISE[name] if name in REFUSED_OTHERWISE else number == errno.EPERM, answer
    assert answer["after"] == WORKS, answer


ATTEMPTS_OF_USERS = [
    pytest.param(name, *user.values, id=f"{name}-{user.id}")
    for name, user in sample(itertools.product(ATTEMPTS, USERS), share=4)
]


def alone(children: Children, layer: str, source: str, **more: Any) -> dict[str, Any]:
    answer = children.run(source, off=EVERYTHING - {layer}, **{"before": BEFORE, **more})
    assert answer["layers"] == [layer], answer
    assert answer.get("after") == WORKS, answer
    return answer
