"""What a snippet displays and prints to stderr is reported, kept, replayed and bounded."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from tests.conftest import World
from tests.runs.conftest import Altered, Replays
from tests.runs.journaled import TOOLS

from coilclaw.policy import Autonomy
from coilclaw.runs import RunReport, report_of
from coilclaw.sandbox import DisplayedOutput, RunEnded

TABLE = "application/vnd.coilclaw.table+json"
PNG = b"\x89PNG\r\n\x1a\n\x00\xff"


def displayed(replays: Replays, source: str, **limits: Any) -> list[dict[str, Any]]:
    report = replays.run(source, **limits)
    assert report.status == "completed", report.error
    return [each.facts() for each in report.outputs]


@pytest.mark.parametrize(
    ("value", "mime", "data"),
    [
        ("'hello'", "text/plain", "hello"),
        ("'# Hello', mime='text/markdown'", "text/markdown", "# Hello"),
        ('"<svg><script>alert(1)</script></svg>"', "image/svg+xml", "<svg><script>alert(1)</script></svg>"),
        ("'<?xml version=\"1.0\"?><svg/>'", "image/svg+xml", '<?xml version="1.0"?><svg/>'),
        (repr(PNG), "image/png", base64.b64encode(PNG).decode()),
        ("[{'a': 1, 'b': 'x'}]", TABLE, {"columns": ["a", "b"], "rows": [[1, "x"]]}),
        ("[{'a': 1}, {'b': None, 'a': [2]}]", TABLE, {"columns": ["a", "b"], "rows": [[1, None], [[2], None]]}),
        ("[{'a': float('nan')}, {'a': 1}]", TABLE, {"columns": ["a"], "rows": [["NaN"], [1]]}),
        ("{'a': (1, 2)}", "application/json", {"a": [1, 2]}),
        ("[1, 2]", "application/json", [1, 2]),
        ("[]", "application/json", []),
        ("3", "text/plain", "3"),
        ("tools.ledger.look()", "text/plain", "x 1"),
        ("tools.ledger.look(of=1)", "text/plain", None),
        ("'\\ud800'", "text/plain", "\\ud800"),
    ],
)
def test_every_kind_of_value_is_displayed_as_what_it_is(either: Replays, value: str, mime: str, data: Any) -> None:
    (output,) = displayed(either, f"display({value})")
    assert output["mime"] == mime
    if data is None:
        assert output["data"].startswith("invalid_input: ")
    else:
        assert output["data"] == data


def test_records_of_every_kind_make_a_table(either: Replays) -> None:
    source = """
import collections, dataclasses
Point = collections.namedtuple("Point", "x y")
@dataclasses.dataclass
class Place:
    x: int
    z: str = "here"
display([Point(1, 2), Place(3), {"x": 5}])
"""
    (output,) = displayed(either, source)
    assert output == {
        "mime": TABLE,
        "data": {"columns": ["x", "y", "z"], "rows": [[1, 2, None], [3, None, "here"], [5, None, None]]},
    }


def test_a_long_table_is_cut_and_says_how_long_it_was(replays: Replays) -> None:
    (output,) = displayed(replays, "display([{'n': n} for n in range(2500)])")
    assert len(output["data"]["rows"]) == 1000
    assert output["data"]["total"] == 2500


def test_no_hook_of_a_value_is_asked(either: Replays) -> None:
    source = """
class Loud:
    def show_html(self): return "<b>x</b>"
    def __str__(self): return "plain"
for name in ("_repr_html_", "_repr_png_", "_repr_mimebundle_", "_ipython_display_"):
    try: setattr(Loud, name, Loud.show_html)
    except Exception: pass
display(Loud())
"""
    assert displayed(either, source) == [{"mime": "text/plain", "data": "plain"}]


def test_what_cannot_be_displayed_says_what_can(either: Replays) -> None:
    report = either.run("display(b'GIF89a')")
    assert report.error is not None
    assert (report.error.type, "no PNG image" in report.error.message) == ("ValueError", True)
    report = either.run("display('x', mime='text/html')")
    assert report.error is not None
    assert "text/markdown" in report.error.message


def test_outputs_are_bounded_in_number_and_size(either: Replays) -> None:
    report = either.run("for n in range(101): display(n)")
    assert report.error is not None
    assert "at most 100 outputs" in report.error.message
    assert len(report.outputs) == 100
    report = either.run("display('x' * 2_000_000)", output_bytes=4_000_000)
    assert report.error is not None
    assert "too many for one output" in report.error.message
    assert either.run("for n in range(9): display('x' * 500)", output_bytes=4_000).status == "output_exceeded"


def test_stderr_and_stdout_share_one_limit_and_are_kept_apart(either: Replays) -> None:
    source = "import sys, logging\nprint('out'); print('err', file=sys.stderr); logging.warning('careful')"
    report = either.run(source)
    assert report.stdout == "out\n"
    assert report.stderr.startswith("err\n")
    assert "careful" in report.stderr
    flood = "import sys\nwhile True: print('x' * 100, file=sys.stderr)"
    assert either.run(flood, output_bytes=4_000).status == "output_exceeded"


EVERYTHING = """
import sys
print("out"); print("err", file=sys.stderr)
display([{"a": tools.ledger.look().value}]); display("text")
"""


def test_all_of_it_is_shown_again_and_replays(either: Replays) -> None:
    report = either.run(EVERYTHING)
    again = report_of(either.database, either.world.log, report.run_id)
    assert again == report
    assert again is not None
    assert (again.stderr, len(again.outputs), again.unkept) == ("err\n", 2, frozenset())
    compared = either.replay(report.run_id)
    assert compared.identical
    assert {"stderr", "outputs"} <= set(compared.compared)
    assert either.world.log.verify().ok


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [('"err"', '"eRR"', "stderr"), ('display("text")', "1", "outputs"), ('"text"', '"x"', "outputs")],
)
def test_a_replay_notices_another_output(replays: Replays, old: str, new: str, what: str) -> None:
    report = replays.run(EVERYTHING)
    found = replays.replay(report.run_id, engine=Altered(replays.engine, old, new)).difference
    assert found is not None
    assert found.what == what


def test_what_was_displayed_before_a_suspension_is_kept_and_displayed_again(either: Replays) -> None:
    either.world.autonomy = Autonomy.SUPERVISED
    seen: list[DisplayedOutput] = []
    either.world.of_caller["display"] = seen.append
    report = either.run("display('before'); tools.ledger.add(line='a'); display('after')")
    assert [each.data for each in report.outputs] == ["before"]
    assert report_of(either.database, either.world.log, report.run_id) == report
    (pending,) = either.book.list("pending")
    either.book.decide(pending.id, approved=True, decided_by="ada")
    registry = either.world.registry(*TOOLS)
    report = either.runtime.resume(report.run_id, lambda name: either.engine, registry)
    assert [each.data for each in report.outputs] == ["before", "after"]
    assert [each.data for each in seen] == ["before", "before", "after"]


def test_outputs_that_have_no_room_are_not_kept_and_that_is_said(replays: Replays) -> None:
    report: RunReport = replays.run("display('x' * 3_000)", kept_bytes=2_500)
    again = report_of(replays.database, replays.world.log, report.run_id)
    assert again is not None
    assert again.outputs == ()
    assert again.unkept == {"outputs"}
    assert replays.replay(report.run_id).identical


@pytest.mark.parametrize(
    "sent",
    [
        "hello",
        "text/html\n<b>",
        "image/png\nGIF89a",
        "image/png\n" + base64.b64encode(b"GIF89a").decode(),
        "application/json\n{",
        "application/json\nNaN",
        "application/json\n1e999",
        f"{TABLE}\n" + '{"columns": ["a"], "rows": [[-1e999]]}',
        "application/json\n" + "[" * 100_000,
        f"{TABLE}\n[]",
        f"{TABLE}\n" + json.dumps({"columns": ["a"], "rows": [[1, 2]]}),
        f"{TABLE}\n" + json.dumps({"columns": [1], "rows": []}),
        f"{TABLE}\n" + json.dumps({"columns": [], "rows": [], "more": 1}),
        f"{TABLE}\n" + json.dumps({"columns": ["a"], "rows": [[1]], "total": 0}),
    ],
)
def test_an_output_that_is_none_ends_the_run(world: World, sent: str) -> None:
    """Only a sandbox whose guards are gone could send it."""
    bridge = world.bridge()
    with pytest.raises(RunEnded) as ended:
        bridge.write(3, sent)
    assert ended.value.outcome.status == "crashed"


def test_a_sandbox_that_sends_more_outputs_than_it_may_is_ended(world: World) -> None:
    bridge = world.bridge()
    for _ in range(100):
        bridge.write(3, "text/plain\nx")
    with pytest.raises(RunEnded) as ended:
        bridge.write(3, "text/plain\nx")
    assert ended.value.outcome.status == "output_exceeded"
