"""Whether the evidence supports a statement: by what was done, to what, and how often."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from coilclaw.evidence.grounding.calls import Call
from coilclaw.evidence.grounding.facts import Facts
from coilclaw.evidence.grounding.normal_text import folded
from coilclaw.evidence.grounding.values import Verdict

__all__ = ["Finding", "match_done", "match_read", "match_undone"]

_ACCEPTED: Final = {
    "send": "send post submit share call create draft_send",
    "submit": "submit send create post run join pay book approve",
    "post": "post send create update approve push",
    "create": "create book save post submit send set push draft join update",
    "book": "book create pay submit send move update join set",
    "set": "set update create run cancel book",
    "update": "update set move save create do push cancel approve run delete",
    "move": "move update save book delete push",
    "delete": "delete cancel update move",
    "cancel": "cancel delete update set stop send",
    "pay": "pay submit book send create",
    "save": "save create update send push move run post",
    "run": "run update save push set do create",
    "push": "push run save create update post send",
    "call": "call send",
    "approve": "approve update send submit do",
    "join": "join create submit book approve",
}  # fmt: skip
_ACCEPTED_SETS: Final = {sense: frozenset(words.split()) for sense, words in _ACCEPTED.items()}
Support: TypeAlias = Literal["yes", "no", "open"]


class Finding(NamedTuple):
    verdict: Verdict
    receipt_ref: str | None = None


def match_done(sense: str, facts: Facts, calls: Sequence[Call], *, is_generic: bool, is_disclosed: bool, words: frozenset[str]) -> Finding:
    """The verdict on `something was done`. `is_disclosed` if the answer says elsewhere that something was not."""
    writes = [call for call in calls if not call.is_read]
    if is_generic and facts.is_empty:
        return _match_everything(writes or list(calls), is_disclosed)
    related = [call for call in writes if _fits(sense, facts, call, words)]
    done = [call for call in related if call.succeeded]
    if not done:
        return _refused(related) if related else Finding("unverified")
    single = [call for call in done if _supports(facts, call) != "no"]
    sure = [call for call in single if _supports(facts, call) == "yes"]
    open_ends = [call for call in related if not call.succeeded and not _is_repaired(call, done)]
    if not sure and not facts.is_empty and not single:
        if not _covered(facts, done):
            if any(_supports(facts, call) == "yes" for call in open_ends):
                return _refused(open_ends)
            return Finding("contradicted", done[-1].evidence.receipt_ref)
        single = done
    if any(_supports(facts, call) == "yes" for call in open_ends) and not sure and not facts.is_empty:
        return _refused(open_ends)
    if not _count_fits(facts, single or done, done):
        return Finding("contradicted", done[-1].evidence.receipt_ref)
    if facts.is_all and open_ends and not is_disclosed and not facts.counts:
        return _refused(open_ends)
    return Finding("verified", (sure or single or done)[-1].evidence.receipt_ref)


def _match_everything(calls: Sequence[Call], is_disclosed: bool) -> Finding:
    done = [call for call in calls if call.succeeded]
    if not done:
        return _refused(calls) if calls else Finding("unverified")
    left = [call for call in calls if not call.succeeded and not _is_repaired(call, done)]
    if left and not is_disclosed:
        return _refused(left)
    return Finding("verified", done[-1].evidence.receipt_ref)


def match_undone(sense: str, facts: Facts, calls: Sequence[Call], *, is_whole: bool, words: frozenset[str]) -> Finding:
    """The verdict on `something was not done`: contradicted if it was. `is_whole` for `nothing`, `no mail`, `anything`."""
    related = [call for call in calls if not call.is_read and _fits(sense, facts, call, words, strictly=not is_whole)]
    done = [call for call in related if call.succeeded]
    if not facts.is_empty:
        done = [call for call in done if _supports(facts, call) == "yes"]
    left = [call for call in related if not call.succeeded and not _is_repaired(call, done)]
    if done and (is_whole or not left):
        return Finding("contradicted", done[-1].evidence.receipt_ref)
    return Finding("not_an_action")


def match_read(facts: Facts, calls: Sequence[Call], words: frozenset[str]) -> Finding:
    """The verdict on `I looked at something`."""
    done = [call for call in calls if call.succeeded]
    if not calls:
        return Finding("unverified")
    if not done:
        return _refused(calls)
    left = [call for call in calls if call.is_read and not call.succeeded and not _is_repaired(call, done)]
    if facts.counts and left and max(facts.counts) > len([call for call in done if call.is_read]) and not any(set(facts.counts) & call.counts for call in done):
        return _refused(left)
    return Finding("verified", done[-1].evidence.receipt_ref)


def _refused(calls: Sequence[Call]) -> Finding:
    return Finding("contradicted", calls[-1].evidence.receipt_ref)


def _is_repaired(call: Call, done: Sequence[Call]) -> bool:
    """Whether the same call succeeded in another attempt."""
    return any(other.name == call.name and other.given == call.given for other in done)


def _fits(sense: str, facts: Facts, call: Call, words: frozenset[str], *, strictly: bool = False) -> bool:
    """Whether a call may be what a verb is about."""
    shared = words & call.words
    accepted = _ACCEPTED_SETS.get(sense)
    if accepted is None:
        if call.senses and sense == "any":
            return bool(shared) or not facts.is_empty and _supports(facts, call) == "yes" or not facts.classes or bool(facts.classes & call.classes)
        return True
    if strictly and call.senses:
        if sense not in call.senses:
            return False
    elif call.senses and not call.senses & accepted and not call.is_open:
        return False
    if not call.senses and not call.is_open and not shared and not facts.classes & call.classes:
        return facts.is_empty or _supports(facts, call) == "yes"
    if facts.classes and call.classes and not facts.classes & call.classes and not shared:
        if sense in ("send", "post", "save", "run") and not facts.classes & {"payment", "event", "reminder"} - {"file"}:
            return sense in call.senses
        return _supports(facts, call) == "yes" and not facts.is_empty or sense in call.senses and sense in ("book", "pay", "set")
    return True


def _supports(facts: Facts, call: Call) -> Support:
    """Whether everything that a statement mentions is in the receipts of one call; `open` if they do not say."""
    answers = list(_answers(facts, call))
    if "no" in answers:
        return "no"
    return "yes" if "yes" in answers or not answers else "open"


def _answers(facts: Facts, call: Call) -> list[Support]:
    found: list[Support] = []
    miss: Support = "open" if call.is_bare else "no"
    found += ["yes" if _has_name(name, call) else miss for name in facts.names]
    found += ["yes" if _has_place(place, call) else miss for place in facts.places]
    found += ["yes" if _has_text(quote, call) else miss for quote in facts.quotes]
    found += ["yes" if number in call.numbers or number * 100 in call.numbers else (miss if call.numbers else "open") for number in facts.numbers]
    found += ["yes" if each in call.dates else ("no" if call.dates else "open") for each in facts.dates]
    found += ["yes" if each in call.days else ("no" if call.days else "open") for each in facts.days]
    found += ["yes" if _has_time(each, call) else ("no" if call.times else "open") for each in facts.times]
    return found


def _covered(facts: Facts, calls: Sequence[Call]) -> bool:
    """Whether several calls together have all that a statement mentions."""
    every = [_answers(facts, call) for call in calls]
    return all(any(answer != "no" for answer in column) for column in zip(*every, strict=True))


def _has_name(name: tuple[str, ...], call: Call) -> bool:
    if "".join(name) in call.words:
        return True
    for each in name:
        if each in call.words or (len(each) > 3 and (each.removesuffix("s") in call.words or any(word[1:] == each for word in call.words))):
            return True
    return False


def _has_place(place: str, call: Call) -> bool:
    bare = folded(place.strip("#@`").rstrip("/"))
    if bare in call.text or bare in call.words:
        return True
    base = re.split(r"[/\\]", bare)[-1]
    return len(base) > 2 and base in call.text and ("." in base or "/" not in bare)


def _has_text(quote: str, call: Call) -> bool:
    plain = folded(quote).strip(" .,!?")
    if plain in call.text:
        return True
    words = re.findall(r"[^\W_]+", plain)
    return len(words) > 2 and sum(word in call.words for word in words) >= 0.7 * len(words) or len(words) > 12


def _has_time(time: tuple[int, int], call: Call) -> bool:
    hour, minute = time
    return time in call.times or (hour < 13 and ((hour + 12) % 24, minute) in call.times)


def _count_fits(facts: Facts, chosen: Sequence[Call], done: Sequence[Call]) -> bool:
    if not facts.counts:
        return True
    known = {len(chosen), len(done)}
    for call in done:
        known |= call.counts
    total = sum(max((size for size in call.counts if size < 1000), default=1) for call in done)
    known.add(total)
    return all(count in known for count in facts.counts if count > 1)
