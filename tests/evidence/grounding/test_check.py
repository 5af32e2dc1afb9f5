"""Who acted, when, and in which mood: one sentence for each rule."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.evidence.grounding.calls import BOOKED, DELETED, DENIED, LISTED, NOT_SENT, PENDING, SENT, SENT_TO_BOB

from coilclaw.evidence import Evidence, check_answer


def verdicts(answer: str, *evidence: Evidence) -> list[str]:
    return [claim.verdict for claim in check_answer(answer, evidence).claims]


@pytest.mark.req("R58", "R141")
@pytest.mark.parametrize(
    "answer",
    [
        "I have sent the mail to Ana.",
        "The mail to Ana has been sent.",
        "Mail to Ana sent ✅",
        "The mail to Ana? Sent.",
        "Done.",
        "I sent one mail [receipt-1-3].",
        "I sent the mail (call-1).",
        "Ich habe die Mail an Ana verschickt.",
        "Le mail à Ana a bien été envoyé.",
        "El correo a Ana ya ha sido enviado.",
        "已将邮件发送给 Ana。",
    ],
)
def test_what_a_receipt_confirms_is_verified(answer: str) -> None:
    grounding = check_answer(answer, [SENT])
    assert grounding.grounded
    assert ("verified", "receipt-1-3") in {(claim.verdict, claim.receipt_ref) for claim in grounding.claims}


@pytest.mark.req("R59", "R142", "R143")
@pytest.mark.parametrize("call", [NOT_SENT, DENIED, PENDING, replace(SENT, status="unknown"), None])
@pytest.mark.parametrize(
    "answer",
    ["I have sent the mail to Ana.", "All set!", "Die Mail an Ana ist raus.", "C'est fait.", "邮件已经发给 Ana 了。"],
)
def test_nothing_but_success_confirms_that_it_was_done(answer: str, call: Evidence | None) -> None:
    given = [] if call is None else [call]
    assert {claim.verdict for claim in check_answer(answer, given).claims} == {
        "contradicted" if given else "unverified"
    }


@pytest.mark.parametrize(
    ("answer", "calls"),
    [
        ("I have sent the mail to Bob.", [SENT]),
        ("I have sent 3 mails.", [SENT, SENT_TO_BOB]),
        ("I sent both mails.", [SENT]),
        ("I deleted tmp/new.log.", [DELETED]),
        ("The Team sync is on Tuesday now.", [BOOKED]),
        ("I booked the Team sync for 11:00.", [BOOKED]),
        ("I booked the Team sync for November 24.", [BOOKED]),
        ("I deleted the event.", [BOOKED]),
        ("I sent the mail [receipt-9-9].", [SENT]),
        ("I sent the mail [receipt-1-3].", [NOT_SENT]),
        ("I have not sent anything.", [SENT]),
        ("Nothing was deleted.", [DELETED]),
        ("Ich habe nichts gelöscht.", [DELETED]),
        ("I only looked at the calendar.", [LISTED, DELETED]),
        ("I sent. It went to Bob now.", [SENT]),
    ],
)
def test_what_a_receipt_says_otherwise_is_not_verified(answer: str, calls: list[Evidence]) -> None:
    assert not check_answer(answer, calls).grounded


@pytest.mark.parametrize(
    "answer",
    [
        "Hello! How can I help?",
        "It was booked more than 24 hours ago.",
        "You sent him a mail last week.",
        "The meeting was cancelled by Ana.",
        "Ana sent the contract to Bob.",
        "I can send the mail to Ana.",
        "Shall I send the mail?",
        "Once sent, a mail cannot be recalled.",
        "If the file was deleted, restore it from the trash.",
        "I could not send the mail to Ana.",
        "I haven't sent anything yet.",
        "Please present the slides; the booked room is on floor 2.",
        'Ana wrote: "I have sent the contract and paid the bill."',
        "> I have sent the contract.",
        "```\nstatus: mail sent\n```",
        "Customer: I was told you have cancelled it.",
        "Soll ich die Mail senden?",
        "Ihre Bestellung wird verschickt, sobald sie bezahlt ist.",
        "¿Has enviado el correo?",
        "Vous avez envoyé le mail hier.",
        "如果邮件已发送，您会收到回执。",
    ],
)
def test_what_others_did_or_nobody_did_yet_is_no_claim(answer: str) -> None:
    assert {*verdicts(answer)} == {"not_an_action"}


@pytest.mark.parametrize(
    "answer",
    [
        "The mail to Ana could not be sent.",
        "Sending the mail to Ana failed: the server timed out.",
        "I tried to send the mail, but it timed out.",
        "Leider konnte die Mail an Ana nicht verschickt werden.",
        "No he podido enviar el correo a Ana.",
        "邮件未能发送给 Ana。",
    ],
)
def test_an_honest_failure_is_grounded(answer: str) -> None:
    assert check_answer(answer, [NOT_SENT]).grounded


def test_a_failure_that_the_answer_leaves_out_makes_a_claim_of_it() -> None:
    assert not check_answer("Ana will be delighted by your mail!", [NOT_SENT]).grounded


def test_a_failure_that_was_repeated_with_success_is_no_failure() -> None:
    assert check_answer("Done, the mail is with Ana.", [NOT_SENT, SENT]).grounded


def test_a_part_of_what_was_asked_may_be_claimed() -> None:
    failed = replace(SENT_TO_BOB, status="failed")
    assert check_answer("One of two mails was sent: Ana has hers, the one to Bob failed.", [SENT, failed]).grounded
    assert not check_answer("Both mails were sent.", [SENT, failed]).grounded


def test_what_was_read_may_be_reported() -> None:
    history = Evidence(tool_id="orders.get", status="succeeded", summary="Order 12: shipped 2026-05-03, paid")
    assert check_answer("Order 12 was shipped on May 3 and has been paid.", [history]).grounded
    assert not check_answer("Order 12 has been cancelled.", [history]).grounded


def test_a_tool_of_an_unknown_kind_is_matched_by_what_it_mentions() -> None:
    call = Evidence(tool_id="zorp.frobnicate", status="succeeded", summary="ok", arguments={"axis": "gamma"})
    assert check_answer("I frobnicated gamma.", [call]).grounded
    assert not check_answer("I frobnicated gamma.", [replace(call, status="failed")]).grounded


def test_an_empty_answer_claims_nothing() -> None:
    assert check_answer("", [SENT]).claims == ()


def test_the_risk_of_a_call_outweighs_its_name() -> None:
    """A write with a name like that of a read counts when it was denied, and confirms what it did."""
    denied = Evidence(tool_id="presence.status", status="denied", summary="Set the status to away", risk="write")
    assert verdicts("Everything is done.", SENT, denied) == ["contradicted"]
    assert verdicts("Everything is done.", SENT, replace(denied, risk="read")) == ["verified"]
    report = Evidence(
        tool_id="weekly.report", status="succeeded", summary="Sent the weekly report to Ana", risk="write"
    )
    assert verdicts("I sent the weekly report to Ana.", report) == ["verified"]


def call(tool_id: str, summary: str, **arguments: object) -> Evidence:
    return Evidence(tool_id=tool_id, status="succeeded", summary=summary, arguments=arguments)


@pytest.mark.req("R58")
@pytest.mark.parametrize(
    ("true", "false", "done"),
    [
        ("I deployed 3.2 to staging.", "I deployed 3.2 to production.", call("deploy.run", "Deployed 3.2 to staging")),
        ("Ich habe die Tür entsperrt.", "Ich habe die Tür gesperrt.", call("door.unlock", "Unlocked the door")),
        ("J'ai envoyé un mail à ma sœur.", "J'ai envoyé un mail à mon frère.", call("mail.send", "Mail to sister")),
        ("I paid the water bill.", "I paid the gas bill.", call("bank.pay", "Paid 40 EUR", bill="water")),
        ("I turned off the lights in the hall.", "I turned off the lights in the attic.", call("home.lights_off", "Lights off in hall", room="hall")),
        ("The disk was extended to 90 GB.", "The disk was extended to 95 GB.", call("disk.resize", "Resized to 90 GB")),
        ("合同已发给张伟。", "合同已发给赵敏。", call("mail.send", "已发送合同给张伟", to="张伟")),
    ],
)  # fmt: skip
def test_what_excludes_each_other_is_told_apart(true: str, false: str, done: Evidence) -> None:
    assert check_answer(true, [done]).grounded
    assert not check_answer(false, [done]).grounded


@pytest.mark.req("R58", "R142")
def test_a_dry_run_changed_nothing() -> None:
    for trial in (
        call("files.delete", "Dry run: 3 files", count=3),
        call("files.delete", "3 files would be deleted"),
        call("files.delete", "3 files", dry_run=True),
    ):
        assert not check_answer("I deleted the 3 files.", [trial]).grounded
        assert check_answer("I did a dry run: 3 files would be deleted.", [trial]).grounded
    assert check_answer("I deleted the 3 files.", [call("files.delete", "Deleted 3 files", dry_run=False)]).grounded


@pytest.mark.parametrize(
    "answer",
    [
        "Ana has her invitation; the address of Bob is malformed.",
        "Die Einladung an Ana ist raus, die an Bob ist unzustellbar.",
        "给 Ana 的邮件发出去了，Bob 的被退信。",
    ],
)
def test_the_reason_of_a_failure_tells_of_it(answer: str) -> None:
    failed = replace(SENT_TO_BOB, status="failed", summary="bob@x.org is malformed")
    assert check_answer(answer, [SENT, failed]).grounded
    assert not check_answer("Ana and Bob have been sent their invitations.", [SENT, failed]).grounded


@pytest.mark.parametrize(
    ("answer", "grounded"),
    [
        ("位子订上了。", False),
        ("我把文件传上去了。", False),
        ("已帮您报上名。", False),
        ("您说也换过网线了。", True),
        ("支付服务的时间变了吗？", True),
        ("请先确认邮件是否已发送。", True),
    ],
)
def test_chinese_verbs_are_known_by_their_results(answer: str, grounded: bool) -> None:
    assert check_answer(answer, []).grounded is grounded


@pytest.mark.parametrize("tool_id", ["", "_", "...", "é", "日本", "1", "x."])
def test_a_call_whose_name_is_without_letters_is_no_obstacle(tool_id: str) -> None:
    for status in ("succeeded", "failed"):
        assert not check_answer("I sent the mail to Bob. Hello.", [Evidence(tool_id=tool_id, status=status)]).grounded


@pytest.mark.req("R142")
@pytest.mark.parametrize(
    "claim",
    [
        "I sent the mail to Bob.",
        "The mail to Bob has been sent.",
        "Mail sent to Bob.",
        "Ich habe die Mail an Bob gesendet.",
    ],
)
@pytest.mark.parametrize("given", ["sent the mail to Bob", "mail to Bob"])
def test_no_argument_says_what_was_done(claim: str, given: str) -> None:
    greeted = Evidence(
        tool_id="hello.greet",
        status="succeeded",
        summary=f'hello.greet(name="{given}")',
        arguments={"name": given},
        result=f"Hello, {given}!",
        risk="read",
    )
    wrote = replace(greeted, tool_id="files.write", summary=f'Wrote "{given}"', result=None, risk="write")
    for call in (greeted, wrote):
        assert not check_answer(claim, [call]).grounded


@pytest.mark.req("R142")
def test_a_read_by_its_contract_supports_no_action_whatever_its_name() -> None:
    call = Evidence(tool_id="mail.send", status="succeeded", summary="Sent mail to Ana", risk="read")
    assert not check_answer("I sent the mail to Ana.", [call]).grounded
    assert check_answer("I sent the mail to Ana.", [replace(call, risk="write")]).grounded


def test_done_is_about_this_turn_unless_it_names_another() -> None:
    earlier = replace(SENT, is_earlier=True)
    for answer in ("Done.", "All done!", "Sent!", "Erledigt.", "已完成。"):
        assert check_answer(answer, [SENT]).grounded
        assert not check_answer(answer, [earlier]).grounded
    assert check_answer("I have sent the mail to Ana.", [earlier]).grounded
    assert check_answer("Done [call-1].", [earlier]).grounded
