"""Whether the evidence supports a statement: by what was done, to what, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from coilclaw.evidence.grounding.calls import Call
from coilclaw.evidence.grounding.facts import Facts
from coilclaw.evidence.grounding.languages.shared import words
from coilclaw.evidence.grounding.support import answers_of, has_thing, is_covered, supports
from coilclaw.evidence.grounding.values import Verdict

__all__ = ["Finding", "Said", "is_about", "is_reported", "left_open", "match_done", "match_read", "match_undone"]

# A verb of the first sense may tell of a call whose name or summary has a verb of the others.
_ACCEPTED: Final = {
    "send": "send post submit call write draft_send update",
    "submit": "submit send create post join pay book approve",
    "post": "post send create approve push save",
    "create": "create book save post submit send set push join write",
    "book": "book create pay submit send move update join",
    "set": "set update create start cancel book lock",
    "lock": "lock set cancel create book",
    "update": "update set move save create push approve write cancel merge commit",
    "move": "move update save book push",
    "delete": "delete cancel move",
    "cancel": "cancel delete update set send submit refuse",
    "refuse": "refuse approve cancel send update",
    "pay": "pay submit book create send",
    "write": "save write send post update draft",
    "save": "save create update push move post write send",
    "run": "run deploy start save update",
    "deploy": "deploy push run post save update start create",
    "start": "start run set deploy",
    "push": "push save post deploy",
    "commit": "commit push save",
    "merge": "merge update push approve",
    "call": "call send",
    "approve": "approve update send submit",
    "join": "join create submit book approve",
}
_ACCEPTED_SETS: Final = {sense: frozenset(words.split()) for sense, words in _ACCEPTED.items()}


class Said(NamedTuple):
    """What a statement says was done, and how the rest of the answer bears on it."""

    sense: str
    facts: Facts
    words: frozenset[str]
    is_generic: bool = False
    is_disclosed: bool = False
    """Whether the answer says elsewhere that something was not done."""
    language: str = "en"
    verb: str = ""
    """The word that names the action."""
    around: frozenset[str] = frozenset()
    """The words of the whole sentence."""


class Finding(NamedTuple):
    verdict: Verdict
    receipt_ref: str | None = None
    calls: tuple[Call, ...] = ()
    """The calls that a verified statement may be about."""


def match_done(said: Said, calls: Sequence[Call]) -> Finding:
    """The verdict on `this was done`."""
    facts = said.facts
    if said.words & _TRIALS and any(call.is_trial and call.succeeded for call in calls):
        return Finding("not_an_action")
    writes = [call for call in calls if not call.is_read and _is_meant(said, call)]
    if said.is_generic:
        named = [call for call in writes if is_about(said, call)]
        if not named and (facts.is_empty or writes):
            return _match_everything(writes, said)
        related = named or writes
    else:
        related = _related(said, writes)
    done = [call for call in related if call.succeeded]
    left = left_open(related, done)
    if not done:
        waiting = [call for call in writes if call.evidence.status in ("pending", "running", "unknown")]
        if said.is_disclosed and _is_asked_for(said) and waiting:
            return Finding("verified", waiting[-1].evidence.receipt_ref)
        if said.is_disclosed and _is_asked_for(said) and said.words & _REQUESTS and left_open(calls, []):
            return Finding("not_an_action")
        return _refused(related) if related else Finding("unverified")
    answers = [(supports(facts, call), call) for call in done]
    sure = [call for answer, call in answers if answer == "yes"]
    if not sure and any(answer == "no" for answer, _ in answers) and not is_covered(facts, done):
        return _refused(left) if any(supports(facts, call) == "yes" for call in left) else _refused(done)
    if not sure and not facts.is_empty and is_covered(facts, done):
        sure = done
    if said.is_disclosed and set(facts.counts) <= {len(related)}:
        facts = facts._replace(counts=())
    if not _count_fits(facts, sure, done, [call for call in writes if call.succeeded and (call.acts or call in done)]):
        return _refused(left or done)
    if left and not sure and _best(said, left) > _best(said, done):
        return _refused(left)
    undisclosed = left and not said.is_disclosed
    if undisclosed and (facts.is_all or facts.is_empty or not sure or _best(said, left) > _best(said, done)):
        return _refused(left)
    best = sure or done
    return Finding("verified", best[-1].evidence.receipt_ref, tuple(best))


def _is_meant(said: Said, call: Call) -> bool:
    """Whether a statement may be about a call: `Done.` is about this turn, unless it cites or names another call."""
    evidence = call.evidence
    if not evidence.is_earlier or not (said.is_generic or (said.facts.is_empty and not said.words)):
        return True
    return is_about(said, call) or not {evidence.receipt_ref, evidence.call_id}.isdisjoint(said.facts.cited)


def is_about(said: Said, call: Call) -> bool:
    """Whether a call mentions what a statement does."""
    return bool(said.words & call.words) or (not said.facts.is_empty and supports(said.facts, call) == "yes")


def _best(said: Said, calls: Sequence[Call]) -> int:
    return max((len(said.words & call.words) + 2 * (said.sense in call.senses) for call in calls), default=0)


def _is_asked_for(said: Said) -> bool:
    """Whether only a request is said to have been made, which a pending call is."""
    return said.sense in ("submit", "start") or bool(said.words & _REQUESTS)


_TRIALS: Final = words("""
dry dry-run simulation simulated simuliert probelauf testlauf simulación simulado simulada simulacro simulé simulée
blanc 试运 模拟 演练
""")
"""Words of statements that claim no more than a trial."""
_REQUESTS: Final = words("""
request requested queue solicitud demande anfrage antrag queued permission approval autorización autorisation freigabe
申请 请求 提交
""")


def _related(said: Said, writes: Sequence[Call]) -> list[Call]:
    """The calls that a statement may be about; where some fit by their verb, only those."""
    fitting = [(_rank(said, call), call) for call in writes]
    best = max((fit for fit, _ in fitting), default=0)
    if best == 0:
        return []
    found = [call for fit, call in fitting if fit == best]
    if said.is_disclosed and not any(call.succeeded for call in found):
        # What failed is told of elsewhere; this may be about a call that fits less well and names the same thing.
        found += [call for fit, call in fitting if 0 < fit < best and call.succeeded and _is_named(said.facts, call)]
    return found


def _rank(said: Said, call: Call) -> int:
    """How well a call fits, with what it mentions before a sense that is only near."""
    fit = _fit(said, call)
    return 9 if fit == 3 else fit + 2 * is_about(said, call) if fit else 0


def _fit(said: Said, call: Call) -> int:
    """How well a call fits a verb: 3 by the same sense, 2 by a near one, 1 by what it mentions, 0 not at all."""
    sense, facts = said.sense, said.facts
    mentioned = is_about(said, call)
    accepted = _ACCEPTED_SETS.get(sense)
    if accepted is None:
        if sense == "any" and facts.classes and said.words and said.language == call.language and not call.is_bare:
            return int(mentioned)
        return 1 if mentioned or not facts.classes or facts.classes & call.classes or not call.classes else 0
    classes = facts.classes - {"text"}
    alien = bool(classes and call.classes and not classes & call.classes and not mentioned)
    if sense in call.senses:
        if alien and not (
            sense in ("send", "post", "save", "set", "pay", "book", "run") and not facts.classes & _APART
        ):
            return 0
        return 3
    if call.senses & accepted and not call.is_open:
        if alien or (sense in _STRICT and classes and call.classes and not classes & call.classes):
            return 0
        # Words of another language than the summary's have nothing to be compared with.
        comparable = said.words and call.classes and said.language == call.language
        return 2 if mentioned or classes & call.classes or said.around & call.words or not comparable else 0
    if _is_named(facts, call) and sense not in _STRICT:
        return 1
    if sense == "send" and "save" in call.senses and "mail" not in said.verb and has_thing(facts, call):
        return 1  # Many say of a file that they sent it when they uploaded it.
    if call.is_open or not call.senses:
        return 1 if mentioned or (call.is_open and not call.senses - {"run", "do"} and not said.facts.classes) else 0
    return 0


_STRICT: Final = frozenset(
    ("send", "pay", "delete", "cancel", "call", "run", "post", "start", "lock", "merge", "push", "write")
)


def _is_named(facts: Facts, call: Call) -> bool:
    """Whether a call is about the very thing that a statement names."""
    named = Facts(names=facts.names, places=facts.places, quotes=facts.quotes, times=facts.times, numbers=facts.numbers)
    return not named.is_empty and supports(named, call) == "yes"


_APART: Final = frozenset(("payment", "event", "reminder", "order"))


def _match_everything(calls: Sequence[Call], said: Said) -> Finding:
    done = [call for call in calls if call.succeeded]
    left = left_open(calls, done)
    if not done or (left and not said.is_disclosed):
        return _refused(left or calls) if calls else Finding("unverified")
    return Finding("verified", done[-1].evidence.receipt_ref)


def match_undone(said: Said, calls: Sequence[Call], *, is_whole: bool) -> Finding:
    """The verdict on `this was not done`: contradicted if it was. `is_whole` for `nothing`, `no mail`, `anything`."""
    writes = [call for call in calls if call.acts]
    anything = is_whole and said.sense in ("update", "any", "do")
    near = _NEAR.get(said.sense, frozenset())
    related = [
        call
        for call in writes
        if said.sense in call.senses or near & call.senses or (anything and (_is_about(said, call)))
    ]
    done = [call for call in related if call.succeeded]
    if not said.facts.is_empty:
        done = [call for call in done if supports(said.facts, call) == "yes"]
    elif not is_whole or any(said.words & call.words or said.facts.classes & call.classes for call in calls):
        done = [
            call
            for call in done
            if said.facts.classes & call.classes or said.words & call.words or (is_whole and call.is_open)
        ]
    left = [call for call in left_open(writes, done) if call in related or said.words & call.words]
    if done and (is_whole or not left):
        return Finding("contradicted", done[-1].evidence.receipt_ref)
    return Finding("not_an_action")


_NEAR: Final = {
    "write": frozenset(("send",)),
    "call": frozenset(("send", "call")),
    "start": frozenset(("run", "deploy")),
    "deploy": frozenset(("run", "start")),
    "run": frozenset(("deploy",)),
    "send": frozenset(("post",)),
    "post": frozenset(("send",)),
    "book": frozenset(("pay",)),
}


def _is_about(said: Said, call: Call) -> bool:
    return not said.facts.classes or bool(said.facts.classes & call.classes) or bool(said.words & call.words)


_LOOKED_UP: Final = frozenset(("event", "mail", "payment", "contact", "account", "device", "file", "booking"))


def match_read(said: Said, calls: Sequence[Call]) -> Finding:
    """The verdict on `I looked at something`."""
    done = [call for call in calls if call.succeeded]
    if not calls:
        return (
            Finding("unverified")
            if said.facts.classes - {"text"} or not said.facts.is_empty
            else Finding("not_an_action")
        )
    if not done:
        return _refused(calls)
    classes = said.facts.classes & _LOOKED_UP
    if classes and not any(classes & call.classes or said.words & call.words or call.is_open for call in calls):
        return Finding("unverified")
    if said.facts.months and all(supports(Facts(months=said.facts.months), call) == "no" for call in done):
        return Finding("unverified")
    left = left_open([call for call in calls if call.is_read], done)
    counted = {count for call in done for count in call.counts}
    if (
        said.facts.counts
        and left
        and max(said.facts.counts) > sum(call.is_read for call in done)
        and counted.isdisjoint(said.facts.counts)
    ):
        return _refused(left)
    return Finding("verified", done[-1].evidence.receipt_ref)


def is_reported(said: Said, calls: Sequence[Call]) -> bool:
    """Whether a call that only looked says so itself: then it is a report, and not an action of the assistant."""
    for call in calls:
        if call.acts or not call.succeeded or supports(said.facts, call) == "no":
            continue
        told = bool(answers_of(said.facts, call))
        is_foreign = said.language != call.language and bool(said.facts.classes & call.classes)
        if said.sense in call.senses and (told or said.words & call.words or is_foreign):
            return True
        shown = said.sense in call.shown_senses or not call.given_dates.issuperset(said.facts.dates)
        is_dated = bool(said.facts.dates or said.facts.days or said.facts.times)
        known = said.sense in ("any", "do") or (call.tells_past and is_dated) or (not call.senses and shown)
        if told and known and _is_detailed(said, call):
            return True
    return False


def _is_detailed(said: Said, call: Call) -> bool:
    return supports(said.facts, call) == "yes" and bool(
        said.words & call.words or said.facts.dates or said.facts.numbers or said.facts.times or said.facts.days
    )


def left_open(calls: Sequence[Call], done: Sequence[Call]) -> list[Call]:
    """Those that did not succeed, and were not made again with success."""
    again: dict[str, list[Call]] = {}
    for other in done:
        again.setdefault(other.evidence.tool_id, []).append(other)
    same = {(other.evidence.tool_id, other.given) for other in done}
    return [
        call
        for call in calls
        if not call.succeeded
        and (call.evidence.tool_id, call.given) not in same
        and not any(_is_retry(call, other) for other in again.get(call.evidence.tool_id, ())[-_MOST_RETRIES:])
    ]


_MOST_RETRIES: Final = 8
"""Calls of the same tool that are compared with one that did not succeed."""


def _is_retry(call: Call, other: Call) -> bool:
    mine, its = call.evidence.arguments or {}, other.evidence.arguments or {}
    return mine == its or (
        any(its.get(name) == value for name, value in mine.items())
        and len(set(map(str, mine.values())) - set(map(str, its.values()))) < 2
        and mine.keys() != its.keys()
    )


def _refused(calls: Sequence[Call]) -> Finding:
    return Finding("contradicted", calls[-1].evidence.receipt_ref)


def _count_fits(facts: Facts, sure: Sequence[Call], done: Sequence[Call], others: Sequence[Call]) -> bool:
    known = {len(sure), len(done)}
    for call in others:
        known |= call.counts
    known.add(sum(max((size for size in call.amounts if size < 1000), default=1) for call in done))
    known.add(len({call.given for call in done}))
    return all(count in known for count in facts.counts if count > 1)
