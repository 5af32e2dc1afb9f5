"""What is known about programs: their options, what they start, and what they must never do.

Options that are not listed are taken as strictly as they can be: their values are treated as paths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = [
    "ALWAYS_FORBIDDEN",
    "DATA_ONLY",
    "DOWNLOADERS",
    "FIND_DATA",
    "FIND_FLAGS",
    "FIND_PATHS",
    "INTERPRETERS",
    "LANGUAGE",
    "LAUNCHERS",
    "OPTIONS",
    "PREFIXES",
    "REFUSED_BUILTINS",
    "SHELLS",
    "Options",
    "Prefix",
    "bare_name",
    "is_harmless_variable",
    "is_safe_awk",
    "is_safe_sed",
    "is_special_variable",
]

ALWAYS_FORBIDDEN = ("mkfs", "shutdown", "reboot", "halt", "poweroff")
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "posh", "yash"})
DOWNLOADERS = frozenset({"curl", "wget", "fetch", "aria2c", "http", "https", "nc", "ncat"})
INTERPRETERS = re.compile(
    r"(?:python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|tclsh|wish|guile|Rscript|julia|ghci|irb|osascript|"
    r"jshell|groovy|scala|erl|elixir|swipl|gdb|octave|expect|emacs|vi|vim|view|nvim|ex|ed|m4|bc|dc|gawk|mawk|nawk)[\d.]*"
)
LANGUAGE = frozenset({":", "true", "false", "test", "[", "exit", "break", "continue", "wait", "read", "set", "cd"})
DATA_ONLY = frozenset({"echo", "printf", "basename", "dirname", "true", "false", ":", "seq", "expr"})

REFUSED_BUILTINS: Mapping[str, str] = {
    "eval": "builds commands while it runs; write them out",
    "source": "runs a file that is not checked; write its commands out",
    ".": "runs a file that is not checked; write its commands out",
    "trap": "runs commands later; write them where they are needed",
    "alias": "gives commands another name; write them out",
    "unalias": "changes the names of commands; leave it out",
    "enable": "changes what names of commands mean; leave it out",
    "hash": "changes what names of commands mean; leave it out",
    "shopt": "changes how the shell reads commands; leave it out",
    "coproc": "starts a command beside the script; use a pipe",
    "bind": "changes how the shell reads commands; leave it out",
    "complete": "changes how the shell reads commands; leave it out",
    "compgen": "can start commands; leave it out",
    "compopt": "changes how the shell reads commands; leave it out",
    "fc": "runs commands from a history; write them out",
    "history": "reads or writes a history; leave it out",
    "let": "evaluates its words; use $((…))",
    "declare": "changes what variables mean; assign plain variables",
    "typeset": "changes what variables mean; assign plain variables",
    "local": "changes what variables mean; assign plain variables",
    "readonly": "changes what variables mean; assign plain variables",
    "export": "changes what variables mean; write `export NAME=value`",
    "unset": "changes what variables mean; use another variable",
    "mapfile": "runs commands for lines; use `while read -r line`",
    "readarray": "runs commands for lines; use `while read -r line`",
    "getopts": "has nothing to read here; leave it out",
    "shift": "has nothing to shift here; leave it out",
    "return": "has nothing to return from; use exit",
    "pushd": "changes the folder; use one `cd folder && …`, or cwd=",
    "popd": "changes the folder; use one `cd folder && …`, or cwd=",
    "dirs": "changes the folder; use one `cd folder && …`, or cwd=",
    "kill": "reaches other processes; they end with the call anyway",
    "ulimit": "changes the limits of the call; leave it out",
    "suspend": "stops the shell; leave it out",
    "function": "gives commands another name; write them out",
    "sudo": "changes privileges, which no command here may do",
    "doas": "changes privileges, which no command here may do",
    "su": "changes privileges, which no command here may do",
    "pkexec": "changes privileges, which no command here may do",
    "runuser": "changes privileges, which no command here may do",
    "chroot": "changes what paths mean; leave it out",
    "nsenter": "leaves the call's surroundings; leave it out",
}

LAUNCHERS = frozenset({
    "parallel", "watch", "ssh", "scp", "rsync", "sftp", "strace", "ltrace", "script", "flock", "unshare", "taskset",
    "chrt", "setpriv", "entr", "make", "gmake", "tar", "bsdtar", "zip", "git", "docker", "podman", "systemd-run",
    "at", "batch", "crontab", "screen", "tmux", "dbus-run-session", "xterm", "less", "more", "man", "npx", "npm",
    "cpio", "capsh", "awk", "sed", "start-stop-daemon", "socat", "valgrind", "perf", "run-parts", "logger", "split",
    "openssl",
})  # fmt: skip


@dataclass(frozen=True)
class Prefix:
    """A program that starts the program named in its arguments, after options and `leading` other arguments."""

    values: str = ""
    """Short options that take a value."""
    long_values: tuple[str, ...] = ()
    leading: int = 0
    refused: tuple[str, ...] = ()
    assignments: bool = False
    feeds: bool = False
    """Whether it adds arguments that are not known before."""


PREFIXES: Mapping[str, Prefix] = {
    "env": Prefix(
        "uCa", ("--unset", "--chdir", "--argv0"), refused=("-S", "--split-string", "-C", "--chdir"), assignments=True
    ),
    "command": Prefix(),
    "builtin": Prefix(),
    "exec": Prefix("a"),
    "nohup": Prefix(),
    "nice": Prefix("n", ("--adjustment",)),
    "ionice": Prefix("cnpPu", ("--class", "--classdata", "--pid", "--pgid", "--uid")),
    "timeout": Prefix("ks", ("--kill-after", "--signal"), leading=1),
    "time": Prefix("fo", ("--format", "--output")),
    "stdbuf": Prefix("ioe", ("--input", "--output", "--error")),
    "setsid": Prefix(),
    "busybox": Prefix(),
    "toybox": Prefix(),
    "chronic": Prefix(),
    "unbuffer": Prefix(),
    "xargs": Prefix(
        "IdELnPsa",
        ("--delimiter", "--max-args", "--max-procs", "--max-chars", "--arg-file", "--process-slot-var"),
        feeds=True,
    ),
}

_LISTS = "takes the names of files from a file, which are not checked; name the files"
_FOLLOWS = "follows links out of the workspace; leave it out"


@dataclass(frozen=True)
class Options:
    """How to read the arguments of one program."""

    values: str = ""
    """Short options that take a value."""
    data: str = ""
    """Those of them whose value is not a path."""
    data_long: frozenset[str] = frozenset()
    """Long options whose value is not a path."""
    refused: Mapping[str, str] = field(default_factory=dict)
    starts: frozenset[str] = frozenset()
    """Options whose value is a program to start."""
    data_operands: int = 0
    """How many operands are not paths; -1 for all."""
    instead: str = ""
    """Short options that stand in for those operands."""
    instead_long: frozenset[str] = frozenset()
    recurses: str = ""
    """Options that make it look into folders; `*` when it always does."""


def _long(*names: str) -> frozenset[str]:
    return frozenset(names)


OPTIONS: Mapping[str, Options] = {
    "basename": Options(data_operands=-1, values="s", data="s", data_long=_long("--suffix")),
    "dirname": Options(data_operands=-1),
    "echo": Options(data_operands=-1),
    "true": Options(data_operands=-1),
    "false": Options(data_operands=-1),
    ":": Options(data_operands=-1),
    "seq": Options(data_operands=-1, values="fs", data="fs", data_long=_long("--format", "--separator")),
    "expr": Options(data_operands=-1),
    "printf": Options(data_operands=-1, refused={"-v": "assigns a variable; use name=$(…)"}),
    "pwd": Options(),
    "cat": Options(),
    "cut": Options("bcdf", "bcdf", _long("--bytes", "--characters", "--delimiter", "--fields", "--output-delimiter")),
    "date": Options(
        "dfrs", "d", _long("--date", "--iso-8601", "--rfc-3339"),
        refused={"-s": "sets the clock of the machine", "--set": "sets the clock of the machine"},
    ),
    "diff": Options(
        "xXIFLUCSDW", "xIFLUCDW",
        _long("--exclude", "--ignore-matching-lines", "--show-function-line", "--label", "--unified", "--context",
              "--width"),
        recurses="r",
    ),
    "du": Options(
        "dtXB", "dtB", _long("--max-depth", "--threshold", "--exclude", "--block-size", "--time-style"),
        refused={"-L": _FOLLOWS, "--dereference": _FOLLOWS, "--files0-from": _LISTS}, recurses="*",
    ),
    "file": Options(
        "efFmP", "eFP", _long("--exclude", "--separator", "--parameter"), refused={"-f": _LISTS, "--files-from": _LISTS,
        "-C": "compiles a magic file; leave it out", "--compile": "compiles a magic file; leave it out"},
    ),
    "grep": Options(
        "efmABCdD", "emABCdD",
        _long("--regexp", "--include", "--exclude", "--exclude-dir", "--max-count", "--context", "--after-context",
              "--before-context", "--label", "--binary-files", "--color", "--colour"),
        refused={"-R": "follows links out of the workspace; use -r", "--dereference-recursive": _FOLLOWS},
        data_operands=1, instead="ef", instead_long=_long("--regexp", "--file"), recurses="rd",
    ),
    "head": Options("nc", "nc", _long("--lines", "--bytes")),
    "ls": Options(
        "IwT", "IwT", _long("--ignore", "--hide", "--sort", "--time", "--time-style", "--format", "--color",
                              "--block-size"),
        recurses="R",
    ),
    "mkdir": Options("m", "m", _long("--mode")),
    "sort": Options(
        "ktoST", "ktS", _long("--key", "--field-separator", "--buffer-size", "--sort", "--parallel"),
        refused={"--files0-from": _LISTS}, starts=_long("--compress-program"),
    ),
    "stat": Options("c", "c", _long("--format", "--printf")),
    "tail": Options("ncs", "ncs", _long("--lines", "--bytes", "--sleep-interval", "--pid")),
    "touch": Options("dtr", "dt", _long("--date", "--time")),
    "tr": Options(data_operands=-1),
    "uniq": Options("fsw", "fsw", _long("--skip-fields", "--skip-chars", "--check-chars")),
    "wc": Options(refused={"--files0-from": _LISTS}),
}  # fmt: skip

FIND_FLAGS = frozenset({
    "-print", "-print0", "-prune", "-quit", "-empty", "-readable", "-writable", "-executable", "-true", "-false",
    "-not", "-a", "-o", "-and", "-or", "(", ")", "!", ",", "-depth", "-d", "-xdev", "-mount", "-daystart", "-noleaf",
    "-ls", "-nouser", "-nogroup", "-warn", "-nowarn", "-ignore_readdir_race",
})  # fmt: skip
FIND_DATA = frozenset({
    "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-type", "-xtype",
    "-size", "-mtime", "-atime", "-ctime", "-mmin", "-amin", "-cmin", "-maxdepth", "-mindepth", "-perm", "-user",
    "-group", "-uid", "-gid", "-inum", "-links", "-printf", "-regextype", "-fstype", "-used", "-lname", "-ilname",
})  # fmt: skip
FIND_PATHS: Mapping[str, int] = {
    "-newer": 1, "-anewer": 1, "-cnewer": 1, "-samefile": 1, "-fprint": 1, "-fls": 1, "-fprint0": 1, "-fprintf": 2,
}  # fmt: skip
"""Tests that name a file first, and how many values they take."""

_SPECIAL_VARIABLE = re.compile(
    r"_|IFS|PATH|CDPATH|ENV|HOME|PWD|OLDPWD|TMPDIR|SHELL.*|BASH.*|HIST.*|COMP_.*|READLINE.*|MAIL.*|DIRSTACK|FUNC.*|GROUPS|"
    r"UID|EUID|PPID|OPT(?:ARG|ERR|IND)|RANDOM|SRANDOM|SECONDS|EPOCH.*|LINENO|REPLY|PS\d|PROMPT.*|TIMEFORMAT|POSIX.*|GLOB.*|"
    r"EXECIGNORE|FIGNORE|INPUTRC|FCEDIT|LD_.*|DYLD_.*|GCONV_PATH|GETCONF_DIR|LOCPATH|NLSPATH|TZDIR|MALLOC_.*|PYTHON.*|"
    r"PERL.*|RUBY.*|NODE.*|NPM_.*|JAVA.*|_JAVA.*|JDK_.*|GIT_.*|SSH_.*|.*PAGER|EDITOR|VISUAL|BROWSER|LESS.*|TAR_OPTIONS|"
    r"GREP_.*|MAKE.*|MFLAGS|GNUMAKEFLAGS|AWK.*|LUA_.*|PHP.*|GLIBC_.*|HOSTALIASES|RES_.*|MAGIC"
)
_HARMLESS_VARIABLE = re.compile(r"LC_[A-Z]+|LANG|LANGUAGE|TZ|NO_COLOR|COLUMNS|[a-z][a-z0-9_]*")


def is_special_variable(name: str) -> bool:
    """Whether the shell, the loader or some program acts on this variable."""
    return _SPECIAL_VARIABLE.fullmatch(name) is not None or name.lower() in ("http_proxy", "https_proxy", "all_proxy")


def is_harmless_variable(name: str) -> bool:
    """Whether a program may be given this variable."""
    return _HARMLESS_VARIABLE.fullmatch(name) is not None and not is_special_variable(name)


def bare_name(program: str) -> str:
    """The name a program is known by: without folders, in lower case."""
    return program.rsplit("/", 1)[-1].casefold()


_SED = re.compile(
    r"s([/|,#:])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gipI0-9]*|"
    r"(?:\d+|\$|/[^/\\\n]*/)(?:,(?:\d+|\$|/[^/\\\n]*/))?[dpq=]"
)


def is_safe_sed(program: str) -> bool:
    """One substitution, or printing or dropping lines. Other sed can write files and start programs."""
    return _SED.fullmatch(program) is not None


def is_safe_awk(program: str) -> bool:
    """No redirection, no pipe and no function that starts a program."""
    return re.search(r"system|getline|close|fflush|printf?\s*>|[|>@]|ENVIRON|ARGV|nextfile", program) is None
