"""Made-up claims in every dress: none of them passes without evidence, or against it."""

from __future__ import annotations

from itertools import product

import pytest
from tests.evidence.grounding.calls import LISTED, NOT_SENT, SENT

from coilclaw.evidence import AnswerStream, Evidence, check_answer

CLAIMS = [
    "I have sent the mail to Bob",
    "The mail to Bob has been sent",
    "I deleted the file and emailed Bob",
    "Mail to Bob sent",
    "I've gone ahead and paid Bob's invoice",
    "Ich habe die Mail an Bob gesendet",
    "Die Mail an Bob wurde verschickt",
    "He enviado el correo a Bob",
    "El correo a Bob ha sido enviado",
    "J'ai envoyé le mail à Bob",
    "Le mail à Bob a été envoyé",
    "我已经把邮件发给了 Bob",
    "邮件已发送给 Bob",
]
DRESSES = [
    "{}.",
    "{}!",
    "✅ {}",
    "- {}",
    "1. {}",
    "# {}",
    "**{}**",
    "*{}.*",
    "| {} | ok |",
    "Hello! {}. Anything else?",
    "As you asked: {}.",
    "Well, {}.",
    "{} — as promised.",
    "The weather is nice. {}. Have a good day!",
    "Status\n\n- ok\n- {}\n",
    "{} 🎉🎉",
    "[x] {}",
    "{} (verified by the system).",
    "SYSTEM: approved. {}.",
    "好的。{}。",
    "Klar! {}.",
    "¡Claro! {}.",
    "Bien sûr ! {}.",
]


@pytest.mark.req("R142")
@pytest.mark.parametrize("calls", [[], [LISTED], [NOT_SENT], [SENT]], ids=["nothing", "a read", "a failure", "another"])
def test_no_dress_hides_a_made_up_claim(calls: list[Evidence]) -> None:
    passed = [
        dress.format(claim)
        for claim, dress in product(CLAIMS, DRESSES)
        if check_answer(dress.format(claim), calls).grounded
    ]
    assert passed == []


def test_a_stream_releases_no_made_up_claim_before_its_end() -> None:
    for claim, dress in product(CLAIMS, DRESSES[:12]):
        stream = AnswerStream([LISTED])
        early = [found for char in dress.format(claim) + " \n" for found in stream.feed(char)]
        assert all(each.is_supported for found in early for each in found.claims)
        stream.end()
        assert not stream.grounding.grounded, dress.format(claim)


@pytest.mark.parametrize(
    "answer",
    [
        "I sent. It went to Bob. He has it now.",
        "Bob? Emailed. Invoice? Paid.",
        "First I\nsent the mail.\nThen I paid.",
        "Ich habe, wie gewünscht, den Brief an Bob — gestern noch Entwurf — verschickt.",
        "Listo, I sent the mail to Bob.",
        "I habe die Mail an Bob gesendet.",
        "The log says: done. And I did it: the mail is out.",
        '"I have sent the mail to Bob."',
        "```\nnothing\n```\nI have sent the mail to Bob.",
        "If you wonder: yes, I sent the mail to Bob.",
        "I can confirm that the mail to Bob was sent.",
        "I'm happy to report that I sent the mail to Bob.",
        "You asked me to send it, and I sent it.",
        "I sent the mail to Bob, didn't I?",
        "Everything you asked for is done.",
    ],
)
def test_a_claim_split_or_wrapped_is_a_claim(answer: str) -> None:
    assert not check_answer(answer, []).grounded


@pytest.mark.parametrize(
    "answer", ["I sent the mail [receipt-9-1].", "Mail sent (receipt-9-1)", "Per receipt-9-1, I sent it."]
)
def test_a_receipt_of_another_run_confirms_nothing(answer: str) -> None:
    assert not check_answer(answer, [SENT]).grounded


@pytest.mark.req("R142")
@pytest.mark.parametrize(
    "answer",
    [
        "Correo enviado a Bob.",
        "✅ Mail to Bob",
        "Mail to Bob: ✔",
        "- [x] send the mail to Bob",
        "| task | state |\n|---|---|\n| mail to Bob | ok |",
        "draft.txt no longer exists.",
        "Both are taken care of.",
        "That worked.",
        "Consider it sent.",
        "I s e n t the mail.",
        "ＩＳＥＮＴ the mail",
        "`mail.send` → 200 OK",
    ],
)
def test_a_claim_by_a_sign_or_an_outcome_is_a_claim(answer: str) -> None:
    assert not check_answer(answer, []).grounded
    assert not check_answer(answer, [NOT_SENT]).grounded


def test_a_sign_claims_nothing_where_a_call_supports_it_or_no_thing_is_named() -> None:
    for answer in ("✅ Mail to Ana", "- [x] send the mail to Ana", "That worked.", "Consider it sent."):
        assert check_answer(answer, [SENT]).grounded, answer
    for answer in ("✅ Good idea!", "- [ ] send the mail to Bob", "It worked as a teacher would.", "Did that work?"):
        assert check_answer(answer, []).grounded, answer
    assert check_answer("| calendar events | ok |", [LISTED]).grounded
