"""`coilclaw auth`: credentials are kept, ordered and tried, and never shown."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command, Done
from tests.planted import PREFIX, leaks, planted, planted_setup_token

TOKEN = planted_setup_token()
KEY = f"sk-ant-api03-{planted('key')}"


class Discreet(Command):
    """A command whose every output is searched for planted secrets."""

    def __call__(self, *args: object, stdin: str | bytes = b"", **environment: str) -> Done:
        done = super().__call__(*args, stdin=stdin, **environment)
        assert PREFIX not in done.out + done.err
        return done

    @property
    def stored(self) -> Any:
        return json.loads((self.home / "auth-profiles.json").read_text())


@pytest.fixture
def coilclaw(tmp_path: Path) -> Iterator[Discreet]:
    command = Discreet(tmp_path)
    yield command
    assert leaks(tmp_path) == []


@pytest.mark.req("R68", "R69", "R70", "R108", "R109", "R110", "R113", "R114")
@pytest.mark.parametrize("options", [[], ["--stdin"]])
def test_a_setup_token_becomes_the_preferred_profile(coilclaw: Discreet, options: list[str]) -> None:
    coilclaw("auth", "add", "anthropic", stdin=KEY)
    done = coilclaw("auth", "anthropic", "setup-token", *options, stdin=f"  {TOKEN}\n")
    assert (done.code, done.out) == (0, "")
    assert "anthropic:manual" in done.err
    assert "the first credential for anthropic" in done.err
    stored = coilclaw.stored
    assert stored["profiles"]["anthropic:manual"] == {"type": "token", "provider": "anthropic", "token": TOKEN}
    assert stored["order"]["anthropic"] == ["anthropic:manual", "anthropic:default"]
    assert stored["modes"] == {"anthropic:manual": "token"}
    assert (coilclaw.home / "auth-profiles.json").stat().st_mode & 0o777 == 0o600
    assert not (coilclaw.home / "config.toml").exists()


@pytest.mark.req("R69", "R111")
def test_a_person_is_told_what_to_run_and_pastes_unseen(coilclaw: Discreet) -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*coilclaw.line, "auth", "anthropic", "setup-token"],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=coilclaw.environment,
        cwd=coilclaw.folder,
        start_new_session=True,
        preexec_fn=lambda: _own_terminal(follower),
    )
    os.close(follower)
    shown = b""
    with os.fdopen(leader, "rb+", buffering=0) as terminal:
        while b"Token" not in shown:
            shown += terminal.read(1000)
        terminal.write(f"{TOKEN}\n".encode())
        try:
            while piece := terminal.read(1000):
                shown += piece
        except OSError:
            pass  # The other end is closed.
    assert process.wait() == 0
    assert b"Run `claude setup-token`" in shown
    assert PREFIX.encode() not in shown
    assert coilclaw.stored["profiles"]["anthropic:manual"]["token"] == TOKEN


def _own_terminal(descriptor: int) -> None:
    import fcntl
    import termios

    fcntl.ioctl(descriptor, termios.TIOCSCTTY, 0)


@pytest.mark.req("R112")
@pytest.mark.parametrize(
    ("pasted", "said"),
    [
        (KEY, "this is an API key"),
        (planted("other"), "begins with sk-ant-oat01-"),
        (TOKEN.replace("oat01", "oat02"), "begins with sk-ant-oat01-"),
        (TOKEN[:60], "is cut: it has 60 characters"),
        (f"{TOKEN[:50]} {TOKEN[50:]}", "blanks or line breaks"),
        (f"{TOKEN[:50]}\n{TOKEN[50:]}", "blanks or line breaks"),
        (f"{TOKEN}é", "characters that no setup token has"),
        (TOKEN * 20, "longer than any"),
        ("", "begins with sk-ant-oat01-"),
        (b"\xff", "not UTF-8"),
    ],
    ids=["api key", "other", "prefix", "cut", "blank", "lines", "letters", "long", "empty", "bytes"],
)
def test_what_is_no_setup_token_is_refused_and_explained(coilclaw: Discreet, pasted: Any, said: str) -> None:
    done = coilclaw("auth", "anthropic", "setup-token", stdin=pasted)
    assert done.code == 2
    assert said in done.err
    assert "nothing was changed" in done.err
    assert not (coilclaw.home / "auth-profiles.json").exists()


def test_whoever_pastes_an_api_key_learns_where_it_belongs_and_the_other_way_round(coilclaw: Discreet) -> None:
    assert "coilclaw auth add anthropic" in coilclaw("auth", "anthropic", "setup-token", stdin=KEY).err
    assert "coilclaw auth anthropic setup-token" in coilclaw("auth", "add", "anthropic", stdin=TOKEN).err
    assert not (coilclaw.home / "auth-profiles.json").exists()


@pytest.mark.parametrize(
    "line",
    [
        ["anthropic", "setup-token", TOKEN],
        ["anthropic", "setup-token", f"--token={TOKEN}"],
        ["add", "anthropic", KEY],
        ["add", "anthropic", "--key", KEY],
        ["add", "anthropic", f"--key={KEY}"],
        ["add", "anthropic", "--env", KEY],
        ["add", "anthropic", "--file", KEY],
        ["add", "anthropic", "--name", KEY * 5],
        ["add", KEY],
        ["remove", KEY],
        ["order", "anthropic", KEY],
        ["test", KEY],
    ],
    ids=lambda line: " ".join(line[:-1]),
)
def test_a_secret_on_the_command_line_is_neither_taken_nor_repeated(coilclaw: Discreet, line: list[str]) -> None:
    done = coilclaw("auth", *line, stdin="other-key")
    assert done.code == 2
    assert not (coilclaw.home / "auth-profiles.json").exists()


@pytest.mark.req("R89", "R124", "R170")
def test_profiles_are_added_listed_ordered_and_removed(coilclaw: Discreet) -> None:
    file = coilclaw.folder / "planted"
    file.write_text(planted("file"))
    file.chmod(0o600)
    oauth = json.dumps({"access": planted("access"), "refresh": planted("refresh"), "expires": 4_000_000_000})
    assert coilclaw("auth", "add", "anthropic", "--name", "work", stdin=KEY).code == 0
    assert coilclaw("auth", "add", "anthropic", "--name", "env", "--env", "MY_KEY").code == 0
    assert coilclaw("auth", "add", "anthropic", "--name", "file", "--file", file, "--first").code == 0
    assert coilclaw("auth", "add", "anthropic", "--name", "oauth", "--type", "oauth", "--stdin", stdin=oauth).code == 0
    rows = coilclaw("auth", "list", "--json").json
    assert [row["id"] for row in rows] == [f"anthropic:{name}" for name in ("file", "work", "env", "oauth")]
    assert [row["secret_ref"] for row in rows] == [
        f"file:{file}", "auth-profiles.json#anthropic:work", "env:MY_KEY", "auth-profiles.json#anthropic:oauth"
    ]  # fmt: skip
    assert [row["type"] for row in rows] == ["api_key", "api_key", "api_key", "oauth"]
    assert rows[3]["expires_at"] == "2096-10-02T07:06:40Z"
    assert [row["problem"] for row in rows] == [None, None, "refers to env:MY_KEY, which is not set", None]
    assert rows[0].keys() >= {"id", "provider", "type", "secret_ref", "expires_at", "last_used_at", "cooldown_until"}
    text = coilclaw("auth", "list").out
    assert "anthropic:env    api_key  refers to env:MY_KEY, which is not set (env:MY_KEY)\n" in text
    done = coilclaw("auth", "order", "anthropic", "anthropic:oauth", "anthropic:work")
    assert done.out.split() == [f"anthropic:{name}" for name in ("oauth", "work", "file", "env")]
    assert coilclaw("auth", "order", "anthropic", "--json").json == done.out.split()
    assert coilclaw("auth", "remove", "anthropic:oauth").code == 0
    assert coilclaw("auth", "order", "anthropic").out.split()[0] == "anthropic:work"
    again = coilclaw("auth", "remove", "anthropic:oauth")
    assert (again.code, "coilclaw auth list" in again.err) == (2, True)


def test_a_home_without_profiles_is_listed(coilclaw: Discreet) -> None:
    done = coilclaw("auth", "list")
    assert (done.code, done.out) == (0, "")
    assert "coilclaw auth anthropic setup-token" in done.err
    assert (coilclaw("auth", "list", "--json").json, coilclaw("auth", "order", "x", "--json").json) == ([], [])


@pytest.mark.parametrize(
    ("options", "stdin", "said"),
    [
        ([], "", "one line without blanks"),
        ([], f"{KEY} {KEY}", "one line without blanks"),
        ([], f"{KEY}\nx", "one line without blanks"),
        (["--type", "oauth"], f'{{"access": "{KEY}"', "is not a JSON object"),
        (["--type", "oauth"], f'["{KEY}"]', "is not a JSON object"),
        (["--type", "oauth"], f'{{"access": "{KEY}", "refresh": "x"}}', "needs `expires`"),
        (["--type", "oauth"], f'{{"access": ["{KEY}"], "refresh": "x", "expires": 1}}', "needs `access`"),
        (["--env", "A", "--stdin"], KEY, "exclude each other"),
        (["--file", "missing"], KEY, "there is none at this one"),
        (["--type", "oauth", "--env", "A"], KEY, "read as JSON"),
    ],
    ids=["empty", "blank", "lines", "cut", "list", "no end", "no text", "two", "no file", "by name"],
)
def test_what_is_no_credential_is_refused(coilclaw: Discreet, options: list[str], stdin: str, said: str) -> None:
    done = coilclaw("auth", "add", "anthropic", *options, stdin=stdin)
    assert done.code == 2
    assert said in done.err
    assert not (coilclaw.home / "auth-profiles.json").exists()


def test_a_profile_for_a_provider_that_is_not_there_is_warned_about(coilclaw: Discreet) -> None:
    done = coilclaw("auth", "add", "antropic", stdin=KEY)
    assert done.code == 0
    assert "no provider called antropic is configured" in done.err


@pytest.mark.parametrize("damage", ["open", "link", "cut"])
def test_a_store_that_cannot_be_used_stops_every_command_and_is_not_repeated(coilclaw: Discreet, damage: str) -> None:
    file = coilclaw.home / "auth-profiles.json"
    coilclaw("auth", "add", "anthropic", stdin=KEY)
    match damage:
        case "open":
            file.chmod(0o644)
        case "link":
            (coilclaw.folder / "planted").mkdir()
            file.rename(coilclaw.folder / "planted/store")
            file.symlink_to(coilclaw.folder / "planted/store")
        case "cut":
            os.truncate(file, file.stat().st_size - 60)
    before = file.read_bytes()
    said = {"open": f"chmod 600 {file}", "link": "links are not followed", "cut": "is not JSON (line "}[damage]
    for line in (["list"], ["add", "anthropic"], ["remove", "anthropic:default"], ["order", "anthropic"], ["test"]):
        done = coilclaw("auth", *line, stdin=KEY)
        assert (done.code, said in done.err) == (2, True), done.err
    assert file.read_bytes() == before


def test_a_store_that_somebody_wrote_controls_no_terminal(coilclaw: Discreet) -> None:
    name = "anthropic:\x1b[2J\u202e\nready"
    entry = {"type": "api_key", "provider": "anthropic\x1b]0;x\x07", "key": "file:/\x1b[31mx"}
    file = coilclaw.home / "auth-profiles.json"
    file.write_text(json.dumps({"profiles": {name: entry, "b:c": {**entry, "type": "\x1b[2J"}}}))
    file.chmod(0o600)
    shown = [coilclaw("auth", "list"), coilclaw("auth", "remove", "b:c"), coilclaw("auth", "list")]
    shown += [coilclaw("auth", "order", entry["provider"]), coilclaw("auth", "test"), coilclaw("provider", "list")]
    assert [each.code for each in shown] == [2, 0, 0, 0, 1, 0]
    assert len(shown[2].out.splitlines()) == 1
    assert not [each for each in shown if {"\x1b", "\u202e", "\x07"} & {*each.out, *each.err}]


def test_the_configuration_shows_no_credential(coilclaw: Discreet) -> None:
    (coilclaw.home / "config.toml").write_text(
        '[providers.models.claude]\nkind = "anthropic"\napi_key = "env:MY_KEY"\nprofile = "anthropic:default"\n'
    )
    coilclaw("auth", "add", "anthropic", stdin=KEY)
    for line in (
        ["config", "show"],
        ["config", "show", "--json"],
        ["provider", "list"],
        ["provider", "list", "--json"],
    ):
        assert coilclaw(*line, MY_KEY=KEY, ANTHROPIC_API_KEY=KEY).code == 0


_WATCHED = """
import os, sys
place, end, seen = sys.argv.pop(1), os._exit, []
sys.addaudithook(lambda event, args: seen.append(str(args[0])) if event in ("open", "os.listdir", "os.scandir") else None)
def note(code):
    paths = "\\n".join(seen)
    with open(place, "w") as file:
        file.write(paths)
    end(code)
os._exit = note
from coilclaw.cli.main import main
main()
"""


@pytest.mark.req("R72")
@pytest.mark.parametrize("line", [["auth", "list"], ["auth", "anthropic", "setup-token"], ["provider", "list"]])
def test_files_of_the_claude_program_are_never_opened(coilclaw: Discreet, line: list[str]) -> None:
    (coilclaw.home / "config.toml").write_text('[providers.models.claude]\nkind = "anthropic"\n')
    person = Path(coilclaw.environment["HOME"])
    for name in (".claude.json", ".claude/.credentials.json", ".config/claude/credentials.json"):
        (person / name).parent.mkdir(parents=True, exist_ok=True)
        (person / name).write_text('{"claudeAiOauth": {"accessToken": "sk-ant-oat01-poison"}}')
    place = coilclaw.folder / "opened"
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED, str(place), *line],
        input=TOKEN.encode(),
        env=coilclaw.environment,
        cwd=coilclaw.folder,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    opened = place.read_text().split("\n")
    assert str(coilclaw.home / "auth-profiles.json") in opened
    assert not [path for path in opened if path.startswith((f"{person}/.claude", f"{person}/.config"))]
    assert b"poison" not in done.stdout + done.stderr
