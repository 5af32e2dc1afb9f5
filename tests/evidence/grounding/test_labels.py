"""Labels on unsupported claims."""

from __future__ import annotations

import pytest
from tests.evidence.grounding.calls import SENT

from coilclaw.evidence import AnswerStream, Evidence


def labelled_answer(answer: str, evidence: list[Evidence]) -> str:
    stream = AnswerStream(evidence)
    return "".join(each.shown for each in (*stream.feed(answer), *stream.end()))


@pytest.mark.req("R59")
@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("I have sent the mail.", "could not verify completion"),
        ("Ich habe die Mail gesendet.", "Ausführung konnte nicht bestätigt werden"),
        ("He enviado el correo.", "no se pudo verificar que se completara"),
        ("J'ai envoyé le mail.", "exécution non vérifiée"),
        ("我已发送邮件。", "无法确认已完成"),
    ],
)
def test_an_unsupported_claim_is_labelled_in_its_language(answer: str, label: str) -> None:
    assert labelled_answer(f"{answer}\n\nOk?", []) == f"{answer} *({label})*\n\nOk?"


def test_a_supported_answer_is_shown_as_it_is() -> None:
    answer = "Hello!\n\n- I have sent the mail to Ana.\n"
    assert labelled_answer(answer, [SENT]) == answer
