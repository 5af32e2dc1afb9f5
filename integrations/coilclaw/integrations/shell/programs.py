"""What is known about programs: their options, what they start, and what they must never do.

Options that are not listed are taken as strictly as they can be: their values are treated as paths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

__all__ = [
    "ALWAYS_ALLOWED",
    "ALWAYS_FORBIDDEN",
    "AWKS",
    "DATA_ONLY",
    "DOWNLOADERS",
    "FIND_DATA",
    "FIND_FLAGS",
    "FIND_PATHS",
    "INTERPRETERS",
    "KEYWORDS",
    "LAUNCHERS",
    "OPTIONS",
    "PREFIXES",
    "REFUSED",
    "STARTING_OPTIONS",
    "Options",
    "Prefix",
    "bare_name",
    "changes_nothing",
    "instead_of",
    "is_harmless_variable",
    "is_safe_awk",
    "is_safe_sed",
    "makes_links",
    "sed_arguments",
]

ALWAYS_FORBIDDEN = ("mkfs", "shutdown", "reboot", "halt", "poweroff")
ALWAYS_ALLOWED = ("true", "false", "test", "[")
"""Programs that reach nothing but their exit code."""

AWKS = ("awk", "gawk", "mawk", "nawk")
DOWNLOADERS = frozenset({"curl", "wget", "fetch", "aria2c", "http", "https", "nc", "ncat"})
INTERPRETERS = re.compile(
    r"(?:python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|tclsh|wish|guile|Rscript|julia|ghci|irb|osascript|"
    r"jshell|groovy|scala|erl|elixir|swipl|gdb|octave|expect|emacs|vi|vim|view|nvim|ex|ed|m4|bc|dc)[\d.]*",
    re.IGNORECASE,
)
DATA_ONLY = frozenset({"echo", "printf", "basename", "dirname", "true", "false", "seq"})
"""Programs whose arguments are never paths."""

_READERS = ("base64", "cmp", "comm", "fold", "join", "nl", "od", "paste", "readlink", "realpath", "rev", "sleep", "tac")
"""Programs that read the files they are given, and have no option that does more."""
_CHANGES_NOTHING = DATA_ONLY | {
    "[", "cat", "cut", "date", "diff", "du", "expr", "file", "grep", "head", "ls", "pwd", "stat", "tail", "test",
    "tr", "wc", *_READERS,
}  # fmt: skip
"""Programs that leave every file as it is, as far as their options are not refused."""

_MAKES_NO_LINKS = frozenset({"sort", "uniq", "find", "mkdir", "touch", "tee", "rm", "rmdir", "chmod"})
_INSTEAD: Mapping[str, str] = {
    "git": "use tools.git.status(), tools.git.log(), tools.git.diff() or tools.git.show()",
    "curl": "use tools.http.get(…)",
    "rm": "use tools.files.delete(…)",
    "rmdir": "use tools.files.delete(…)",
    **dict.fromkeys(("cp", "mv", "sed", "tee", "awk", "jq"), "use tools.files.read(…) and tools.files.write(…)"),
}
_PYTHON = "is not supported; decide and loop in Python, and call tools.shell.run for each command"
_VALUES = "is not supported; keep values in Python, and put them into the command with an f-string"
_BUILTIN = "is a builtin of a shell, and there is no shell here; leave it out"
_PRIVILEGES = "changes privileges, which no command here may do"

REFUSED: Mapping[str, str] = {
    name: reason
    for names, reason in (
        ("if then elif else fi for select while until do done case esac function { } [[ ]] coproc !", _PYTHON),
        ("export declare typeset local readonly unset let shift read mapfile readarray getopts", _VALUES),
        ("set", "is not supported; join commands with && to stop at the first that fails, and write values in Python"),
        ("cd pushd popd dirs", "is not supported here; pass cwd=, or begin the command with one `cd folder &&`"),
        ("exit return break continue wait", "is not supported; look at exit_code in Python"),
        ("eval source . trap", "runs commands that are not written out here; write them out"),
        ("exec command builtin time busybox toybox", "is not supported; name the program itself"),
        (":", "is a builtin of a shell; use true"),
        (
            "alias unalias enable hash shopt bind complete compgen compopt fc history ulimit umask suspend logout "
            "times caller disown jobs bg fg help type",
            _BUILTIN,
        ),
        ("kill pkill killall", "reaches other processes; those of a call end with it anyway"),
        ("sudo doas su pkexec runuser setpriv capsh", _PRIVILEGES),
        ("chroot nsenter unshare", "changes what paths mean; leave it out"),
        (
            "sh bash dash zsh ksh mksh ash fish csh tcsh rbash posh yash",
            "is a shell, and what it runs would not be checked; write its commands out, one call for each",
        ),
    )
    for name in names.split()
}
KEYWORDS = frozenset(name for name, reason in REFUSED.items() if reason in (_PYTHON, _VALUES)) | {"set"}
"""Those that are no programs anywhere."""

LAUNCHERS = frozenset({
    "parallel", "watch", "ssh", "scp", "rsync", "sftp", "strace", "ltrace", "script", "flock", "taskset", "ionice",
    "chrt", "entr", "make", "gmake", "tar", "bsdtar", "zip", "git", "docker", "podman", "systemd-run", "chronic",
    "at", "batch", "crontab", "screen", "tmux", "dbus-run-session", "xterm", "less", "more", "man", "npx", "npm",
    "cpio", "start-stop-daemon", "socat", "valgrind", "perf", "run-parts", "logger", "split", "openssl", "unbuffer",
})  # fmt: skip
"""Programs that can start others in ways of their own."""

STARTING_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "tar": ("-I", "-F", "--use-compress-program", "--to-command", "--checkpoint-action", "--info-script",
            "--new-volume-script", "--rsh-command", "--rmt-command"),
    "git": ("-c", "-C", "--config-env", "--exec-path", "--git-dir", "--work-tree", "--upload-pack", "--receive-pack",
            "--exec", "--ext-diff", "--textconv", "--open-files-in-pager"),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "scp": ("-o", "-S"),
    "sftp": ("-o", "-S"),
    "ssh": ("-o",),
    "sort": ("--compress-program",),
    "split": ("--filter",),
    "zip": ("-TT", "--unzip-command"),
    "less": ("-k", "--lesskey-file", "--lesskey-src"),
    "man": ("-P", "-H", "-R", "--pager", "--html", "--recode"),
    "make": ("--eval",),
}  # fmt: skip
"""Options that make a program start what their value says; refused at every level."""


@dataclass(frozen=True)
class Prefix:
    """A program that starts the program named in its arguments. Options that are not listed are refused."""

    flags: str = ""
    values: str = ""
    """Short options that take a value."""
    long: tuple[str, ...] = ()
    """Long options, with `=` at the end of those that take a value, which must be written after it."""
    leading: int = 0
    """How many operands come before the program."""
    assignments: bool = False
    feeds: bool = False
    """Whether it adds arguments that are not known before."""


PREFIXES: Mapping[str, Prefix] = {
    "env": Prefix("i", "u", ("--ignore-environment", "--unset="), assignments=True),
    "nohup": Prefix(),
    "nice": Prefix("0123456789", "n", ("--adjustment=",)),
    "timeout": Prefix("fv", "ks", ("--kill-after=", "--signal=", "--foreground", "--preserve-status"), leading=1),
    "stdbuf": Prefix("", "ioe", ("--input=", "--output=", "--error=")),
    "setsid": Prefix("cfw", "", ("--wait", "--fork", "--ctty")),
    "xargs": Prefix(
        "0rtx", "dLnPs", ("--null", "--no-run-if-empty", "--delimiter=", "--max-args=", "--max-procs="), feeds=True
    ),
}

_LISTS = "takes the names of files from a file, which are not checked; name the files"
_FOLLOWS = "follows links out of the workspace; leave it out"
_CLOCK = "sets the clock of the machine"
_STARTS = "starts another program; leave it out"
_DERIVED = "uses names that are not checked; leave it out"
_INTO = "is not needed; name the folder last"


def _refused(names: str, reason: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), reason)


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
    data_operands: int = 0
    """How many operands are not paths; -1 for all."""
    instead: tuple[str, ...] = ()
    """Options that stand in for those operands."""
    paths_long: tuple[str, ...] = ()
    """Long options whose value is a path; to be listed where some operands are not."""
    recurses: str = ""
    """Options that make it look into folders; `*` when it always does."""
    follows: bool = False
    """Whether it then follows links that it meets there."""
    writes: bool = False
    """Whether it then changes what it meets there."""


def _long(*names: str) -> frozenset[str]:
    return frozenset(names)


_COPIES = Options(
    refused={
        **_refused("-b -S --backup --suffix --parents", _DERIVED), **_refused("-L -H --dereference", _FOLLOWS),
        **_refused("-t -T --target-directory --no-target-directory", _INTO),
    },
    recurses="rRa", writes=True,
)  # fmt: skip
OPTIONS: Mapping[str, Options] = {
    **{name: Options(data_operands=-1) for name in (*DATA_ONLY, "expr", "tr")},
    "cut": Options("bcdf", "bcdf", _long("--bytes", "--characters", "--delimiter", "--fields", "--output-delimiter")),
    "date": Options("dfrs", "d", _long("--date", "--iso-8601", "--rfc-3339"), refused=_refused("-s --set", _CLOCK),
                    paths_long=("--file", "--reference")),
    "diff": Options(
        "xXIFLUCSDW", "xIFLUCDW",
        _long("--exclude", "--ignore-matching-lines", "--show-function-line", "--label", "--unified", "--context",
              "--width"),
        refused=_refused("-l --paginate", _STARTS), recurses="*", follows=True,
    ),
    "du": Options(
        "dtXB", "dtB", _long("--max-depth", "--threshold", "--exclude", "--block-size", "--time-style"),
        refused={"-L": _FOLLOWS, "--dereference": _FOLLOWS, "--files0-from": _LISTS}, recurses="*",
    ),
    "file": Options(
        "efFmP", "eFP", _long("--exclude", "--separator", "--parameter"), refused={"-f": _LISTS, "--files-from": _LISTS,
        **_refused("-m --magic-file", "reads every file of a folder, and others beside a file; leave it out"),
        **_refused("-C --compile", "compiles a magic file; leave it out"),
        **_refused("-z -Z --uncompress --uncompress-noreport", _STARTS)},
    ),
    "grep": Options(
        "efmABCdD", "emABCdD",
        _long("--regexp", "--include", "--exclude", "--exclude-dir", "--max-count", "--context", "--after-context",
              "--before-context", "--label", "--binary-files", "--color", "--colour"),
        refused={"-R": "follows links out of the workspace; use -r", "--dereference-recursive": _FOLLOWS},
        data_operands=1, instead=("-e", "-f", "--regexp", "--file"), paths_long=("--file", "--exclude-from"),
        recurses="rd",
    ),
    "head": Options("nc", "nc", _long("--lines", "--bytes")),
    "ls": Options(
        "IwT", "IwT", _long("--ignore", "--hide", "--sort", "--time", "--time-style", "--format", "--color",
                              "--block-size"),
        refused=_refused("-L --dereference", _FOLLOWS), recurses="R",
    ),
    "mkdir": Options("m", "m", _long("--mode")),
    "sort": Options(
        "ktoST", "ktS", _long("--key", "--field-separator", "--buffer-size", "--sort", "--parallel"),
        refused={"--files0-from": _LISTS},
    ),
    "stat": Options("c", "c", _long("--format", "--printf")),
    "tail": Options("ncs", "ncs", _long("--lines", "--bytes", "--sleep-interval", "--pid")),
    "touch": Options("dtr", "dt", _long("--date", "--time")),
    "uniq": Options("fsw", "fsw", _long("--skip-fields", "--skip-chars", "--check-chars")),
    "wc": Options(refused={"--files0-from": _LISTS}),
    "cp": _COPIES,
    "mv": replace(_COPIES, recurses="*"),
    **dict.fromkeys(("md5sum", "sha1sum", "sha256sum", "sha512sum"), Options(refused=_refused("-c --check", _LISTS))),
    **dict.fromkeys(("chmod", "rm"), Options(refused=_refused("-L -H", _FOLLOWS), recurses="rR", writes=True)),
    **dict.fromkeys(("cat", "pwd", "rmdir", "tee", *_READERS), Options()),
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

_HARMLESS_VARIABLE = re.compile(r"LC_[A-Z]+|LANG|LANGUAGE|TZ|NO_COLOR|COLUMNS")
_SED = re.compile(
    r"s([/|,#:])(?:(?!\1)[^\\\n]|\\[^\n])*+\1(?:(?!\1)[^\\\n]|\\[^\n])*+\1[gipI0-9]*|"
    r"(?:\d+|\$|/[^/\\\n]*/)(?:,(?:\d+|\$|/[^/\\\n]*/))?[dpq=]"
)
_UNSAFE_AWK = re.compile(r"system|getline|close|fflush|[|>@]|ENVIRON|ARGV|SYMTAB|FUNCTAB|PROCINFO|nextfile")


def is_harmless_variable(name: str) -> bool:
    """Whether a program may be given this variable: all it changes is how things are written."""
    return _HARMLESS_VARIABLE.fullmatch(name) is not None


def bare_name(program: str) -> str:
    """The name a program is known by: without folders, in lower case."""
    return program.rsplit("/", 1)[-1].casefold()


def sed_arguments(arguments: list[str]) -> tuple[list[str], list[str], list[str]]:
    """What sed runs, the files that it is given, and the options that are not known here."""
    scripts, operands, unknown, position = list[str](), list[str](), list[str](), 0
    while position < len(arguments):
        text = arguments[position]
        position += 1
        if re.fullmatch(r"-[nErsuz]*e|--expression", text):
            scripts.extend(arguments[position : position + 1])
            position += 1
        elif not text.startswith("-") or text == "-":
            operands.append(text)
        elif not re.fullmatch(r"-[nErsuz]+|-[nErsuz]*i|--quiet|--silent|--regexp-extended|--in-place", text):
            unknown.append(text)
    return scripts or operands[:1], operands[not scripts :], unknown


def is_safe_sed(arguments: list[str]) -> bool:
    """One substitution, or printing or dropping lines. Other sed can write files and start programs."""
    scripts, _, unknown = sed_arguments(arguments)
    return not unknown and all(map(_SED.fullmatch, scripts))


def is_safe_awk(program: str) -> bool:
    """No redirection, no pipe and no function that starts a program."""
    return _UNSAFE_AWK.search(program) is None


def changes_nothing(argv: list[str]) -> bool:
    """Whether this command certainly leaves every file as it is, but for its redirections."""
    name, arguments = argv[0], argv[1:]
    options = [each for each in arguments if each.startswith("-")]
    match name:
        case "sort":  # Its option -o names a file to write.
            return not any("o" in each for each in options)
        case "uniq":  # Its second operand does.
            return len(options) == len(arguments)
        case "find":
            return all(each in FIND_FLAGS or each in FIND_DATA for each in options)
        case "sed":
            return set(options) <= {"-n", "-E", "-r"} and is_safe_sed(arguments)
        case "awk":
            return not options and all(map(is_safe_awk, arguments))
    return name in _CHANGES_NOTHING


def makes_links(name: str, arguments: list[str]) -> bool:
    """Whether a program may make or move links, and so change what a path means that another one uses."""
    if name == "cp":
        return any(re.match(r"--[arlsn]|-[A-Za-z]*[adlPRrs]", each) for each in arguments)
    if name in AWKS:
        return not all(map(is_safe_awk, arguments))
    if name == "sed":
        return not is_safe_sed(arguments)
    return name not in _CHANGES_NOTHING | _MAKES_NO_LINKS | PREFIXES.keys()


def instead_of(name: str) -> str:
    """What to use in place of a program that may not be started; empty if there is nothing to name."""
    if INTERPRETERS.fullmatch(name) and name.startswith(("python", "pypy")):
        return "you are in Python already: write it in the snippet"
    return _INSTEAD.get("curl" if name in DOWNLOADERS else name, "")
