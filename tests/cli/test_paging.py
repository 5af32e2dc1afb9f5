"""Questions at a terminal: everything is shown as it is, and only what was shown can be approved."""

from __future__ import annotations

import pytest
from tests.cli.conftest import Command
from tests.cli.terminal import INTERRUPT, TerminalRun, on_terminal

from coilclaw.sdk.legible import cells

APPROVE = b"Approve? [y/N"
MORE = b"[m]ore"


def ask(coilclaw: Command, source: str, *answers: tuple[bytes, bytes], size: tuple[int, int] = (24, 80)) -> TerminalRun:
    coilclaw.workspace.mkdir(exist_ok=True)
    script = coilclaw.folder / "x.py"
    script.write_text(source)
    return on_terminal(coilclaw, "run", script, answers=list(answers), size=size)


def written(coilclaw: Command, name: str = "a.txt") -> str | None:
    file = coilclaw.workspace / name
    return file.read_text() if file.exists() else None


@pytest.mark.req("R367")
def test_blanks_cannot_push_the_rest_of_an_argument_out_of_sight(coilclaw: Command) -> None:
    source = "tools.files.write(path='a.txt', text='reports are fine' + ' ' * 2100 + '; printf pwned').ok"
    session = ask(coilclaw, source, (APPROVE, b"\n"))
    assert "reports are fine⟦2100 blanks⟧; printf pwned" in session.screen.replace("\n        … ", "")
    assert written(coilclaw) is None


@pytest.mark.req("R367")
def test_what_was_not_shown_cannot_be_approved(coilclaw: Command) -> None:
    source = "tools.files.write(path='a.txt', text='fine\\n' * 100 + 'EVIL\\n').ok"
    session = ask(coilclaw, source, (MORE, b"y\n"), (b"Not everything", b""), (MORE, b"yes\n"), (MORE, b"n\n"))
    assert "EVIL" not in session.screen
    assert "Approve?" not in session.screen
    assert written(coilclaw) is None


@pytest.mark.parametrize("keys", [[b"a\n"], [b"m\n", b"\n", b"m\n", b"more\n", b"m\n"]])
def test_a_long_request_is_paged_and_then_approved(coilclaw: Command, keys: list[bytes]) -> None:
    source = "tools.files.write(path='a.txt', text=''.join(f'line {n}\\n' for n in range(100))).ok"
    session = ask(coilclaw, source, *((MORE, key) for key in keys), (APPROVE, b"y\n"))
    before = session.screen.partition("Approve?")[0]
    assert all(f"| +line {number}\n" in before for number in range(100))
    assert written(coilclaw) == "".join(f"line {n}\n" for n in range(100))


def test_many_empty_lines_are_counted(coilclaw: Command) -> None:
    source = "tools.files.write(path='a.txt', text='fine' + '\\n' * 5000 + 'EVIL').ok"
    session = ask(coilclaw, source, (APPROVE, b"n\n"))
    assert "| +⟦4999 empty lines⟧" in session.screen
    assert "| +EVIL" in session.screen


def test_a_typo_is_asked_about_again(coilclaw: Command) -> None:
    source = "tools.files.write(path='a.txt', text='x').ok"
    session = ask(coilclaw, source, (APPROVE, b"yy\n"), (APPROVE, b"Y\n"))
    assert "Please answer y, n or l." in session.screen
    assert written(coilclaw) == "x"


def test_a_change_of_a_file_is_shown_as_a_difference(coilclaw: Command) -> None:
    coilclaw.workspace.mkdir(parents=True)
    (coilclaw.workspace / "a.txt").write_text("".join(f"line {n}\n" for n in range(50)))
    source = "text = tools.files.read(path='a.txt').unwrap()['text']\n"
    source += "tools.files.write(path='a.txt', text=text.replace('line 25', 'other \\u202e')).ok"
    session = ask(coilclaw, source, (APPROVE, b"n\n"))
    for row in ("| @@ -23,7 +23,7 @@", "|  line 24", "| -line 25", "| +other \\u202e", "|  line 26"):
        assert any(each.endswith(row) for each in session.rows), row
    assert "line 10" not in session.screen


def test_text_cannot_pass_for_another_field_wherever_the_terminal_wraps(coilclaw: Command) -> None:
    forged = "  Risk:   read (low)"
    for width in (60, 80):
        texts = [f"{'x' * pad}{forged}{' ' * 12}{forged}" for pad in range(width - 14, width)]
        source = f"tools.files.write(path={'名' * 60 + forged!r}, text={chr(10).join(texts)!r}).ok"
        session = ask(coilclaw, source, (MORE, b"a\n"), (APPROVE, b"n\n"), size=(24, width))
        asked = session.rows[session.rows.index("Approval needed (line 1)") :]
        asked = asked[: next(n for n, row in enumerate(asked) if row.startswith("Approve?"))]
        assert [row for row in asked if row.startswith("  Risk:")] == ["  Risk:   write (medium)"]
        assert max(cells(row) for row in asked if not row.startswith("--")) <= width


def test_a_plan_longer_than_the_screen_is_shown_whole_before_the_yes(coilclaw: Command) -> None:
    coilclaw.workspace.mkdir(parents=True)
    script = coilclaw.folder / "x.py"
    script.write_text("tools.files.write(path='a.txt', text='fine' + ' ' * 3000 + '\\n' + 'x\\n' * 50 + 'EVIL').ok")
    line = ("run", script, "--approve-plan")
    shown = on_terminal(coilclaw, *line, answers=[(MORE, b"y\n"), (MORE, b"a\n"), (b"[y/N]", b"n\n")])
    assert shown.code == 1
    assert "fine⟦3000 blanks⟧" in shown.screen
    assert "| +EVIL" in shown.screen.partition("[y/N]")[0]
    assert written(coilclaw) is None


def test_an_approval_given_by_command_is_paged_too(coilclaw: Command) -> None:
    coilclaw.workspace.mkdir(parents=True)
    done = coilclaw("run", "-", "--json", stdin="tools.files.write(path='a.txt', text='x\\n' * 50 + 'EVIL').ok")
    asked = done.json["approvals"][0]["id"]
    shown = on_terminal(coilclaw, "approval", "approve", asked, answers=[(MORE, b"y\n"), (MORE, b"n\n")])
    assert shown.code == 1
    assert "EVIL" not in shown.screen.partition("Args:")[2]
    assert "| +EVIL" in coilclaw("approval", "show", asked).out


def test_a_pipe_cannot_redraw_the_question_on_the_terminal(coilclaw: Command) -> None:
    coilclaw.workspace.mkdir(parents=True)
    script = coilclaw.folder / "x.py"
    script.write_text("print('\\x1b[2J\\x9bé\\u3164', flush=True)\ntools.files.write(path='\\x1b[2J', text='x').code")
    asked = on_terminal(coilclaw, "run", script, answers=[(APPROVE, b"n\n")], pipe_stdout=True)
    assert asked.piped.decode() == '\\u001b[2J\\u009bé\u3164\n"approval_denied"\n'
    assert "\x1b[2J" not in asked.raw
    script.write_text("print('\\x1b[1mbold')")
    assert on_terminal(coilclaw, "run", script, "--yes", answers=[], pipe_stdout=True).piped == b"\x1b[1mbold\n"


def test_the_question_names_every_letter_that_answers_it(coilclaw: Command) -> None:
    session = ask(coilclaw, "tools.files.write(path='a.txt', text='x').ok", (b"Approve? [y/N/l]", b"n\n"))
    assert session.code == 0


def test_problems_of_the_configuration_fit_a_narrow_terminal(coilclaw: Command) -> None:
    (coilclaw.home / "config.toml").write_text('[security]\nhttp_private = ["0.0.0.0/0"]')
    session = on_terminal(coilclaw, "config", "validate", answers=[])
    problems = session.screen.partition("http_private")[2].split("\n")[1:]
    assert all(cells(row) <= 80 for row in problems)
    assert "    " not in session.screen


def test_an_interrupt_at_the_question_ends_its_line_and_says_that_the_call_was_not_made(coilclaw: Command) -> None:
    session = ask(coilclaw, "tools.files.write(path='a.txt', text='x').unwrap()", (APPROVE, INTERRUPT))
    assert session.code == 130
    (prompt,) = [row for row in session.rows if row.startswith("Approve?")]
    assert prompt.strip() == "Approve? [y/N/l]"
    assert any(row.split()[:3] == ["not", "made", "files.write"] for row in session.rows)
    assert "pending" not in session.screen
    assert written(coilclaw) is None
