"""Mutations of the providers."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutation import Mutation

__all__ = ["MUTATIONS"]

_WIRE: Final = "tests/providers/test_wire.py"
_OPENAI: Final = "tests/providers/test_openai_compatible.py"
_ANTHROPIC: Final = "tests/providers/test_anthropic.py"
_CREDENTIALS: Final = "tests/providers/test_credentials.py"
_RELIABLE: Final = "tests/providers/test_reliable.py"
_MOCK: Final = "tests/providers/test_mock.py"

MUTATIONS: Final = (
    Mutation(
        "coilclaw.providers.wire:Wire._connected",
        "follow_redirects=False",
        "follow_redirects=True",
        f"{_WIRE} -k status_says",
        "a credential is not sent where a redirect leads",
    ),
    Mutation(
        "coilclaw.providers.wire:Wire._connected",
        "trust_env=False",
        "trust_env=True",
        f"{_WIRE} -k proxies",
        "a credential is not sent to a proxy of the environment",
    ),
    Mutation(
        "coilclaw.providers.wire:Wire._connected",
        "verify=True if self._is_encrypted else _trusting_nobody()",
        "verify=False",
        f"{_WIRE} -k certificate",
        "certificates are checked",
    ),
    Mutation(
        "coilclaw.providers.wire:_bounded",
        "if left < 0:",
        "if False:",
        f"{_WIRE} -k cut_off",
        "an answer has a bound",
    ),
    Mutation(
        "coilclaw.providers.wire:check_address",
        '"@" in parts.netloc or ',
        "",
        f"{_WIRE} -k address",
        "an address has no user name in it",
    ),
    Mutation(
        "coilclaw.providers.service:ModelService._in_time",
        "raise (error if error.provider else _of(self._name, error)) from None",
        "raise (error if error.provider else _of(self._name, error)) from error",
        f"{_WIRE} -k any_stage",
        "what holds the request is not passed on with a failure",
    ),
    Mutation(
        "coilclaw.providers.wire:Wire._failure",
        'return ProviderError(f"{self._place} hung up',
        'return NotTaken(f"{self._place} hung up',
        f"{_WIRE} -k any_stage",
        "what a service may have begun is not asked again",
    ),
    Mutation(
        "coilclaw.providers.failures:_message",
        'redacted(text_of(said.get("message"))[:_LONGEST_READ], secret)',
        'text_of(said.get("message"))[:_LONGEST_READ]',
        f"{_WIRE} -k status_says",
        "a failure does not repeat the credential",
    ),
    Mutation(
        "coilclaw.providers.failures:_tells",
        "min(_TELLING, len(secret))",
        "len(secret)",
        f"{_WIRE} -k status_says",
        "a failure does not repeat a part of the credential",
    ),
    Mutation(
        "coilclaw.providers.failures:_message",
        "return one_line(",
        "return (lambda text, most: text)(",
        f"{_WIRE} -k status_says",
        "a service's message controls no terminal",
    ),
    Mutation(
        "coilclaw.providers.failures:_named_kind",
        'if "billing" in found or',
        "if",
        f"{_WIRE} -k body_says",
        "a quota that is used up is no rate limit",
    ),
    Mutation(
        "coilclaw.providers.service:ModelService._in_time",
        "asyncio.timeout_at(deadline)",
        "asyncio.timeout_at(None)",
        f"{_WIRE} -k goes_silent",
        "a stream ends with the time of its provider",
    ),
    Mutation(
        "coilclaw.providers.service:ModelService._attempts",
        "if released:",
        "if False:",
        f"{_CREDENTIALS} -k after_text",
        "nothing is asked again after text was shown",
    ),
    Mutation(
        "coilclaw.providers.service:ModelService._attempts",
        "pause > min(left, _LONGEST_PAUSE)",
        "False",
        f"{_WIRE} -k waits_long",
        "nobody waits as long as a service likes",
    ),
    Mutation(
        "coilclaw.providers.service:ModelService._attempts",
        "isinstance(error, NotTaken) and ",
        "",
        f"{_WIRE} -k asked_once",
        "only what was not taken is asked again",
    ),
    Mutation(
        "coilclaw.providers.service:ModelService._attempts",
        "rotated < _MOST_CREDENTIALS",
        "True",
        f"{_CREDENTIALS} -k without_an_end",
        "credentials are not tried without end",
    ),
    Mutation(
        "coilclaw.providers.service:ModelService._following",
        'if error.kind == "auth":',
        "if True:",
        f"{_CREDENTIALS} -k person_can_act",
        "a rate limit is not reported as a missing credential",
    ),
    Mutation(
        "coilclaw.providers.openai_compatible:_Exchange.end",
        "if self._reason is None and not said_so:",
        "if False:",
        f"{_WIRE} -k half_a_stream",
        "half a stream is no answer",
    ),
    Mutation(
        "coilclaw.providers.anthropic:_Exchange.end",
        "if not self.is_complete:",
        "if False:",
        f"{_WIRE} -k half_a_stream",
        "half a stream is no answer",
    ),
    Mutation(
        "coilclaw.providers.anthropic:_Exchange._echo",
        'echo.get("model") != self._model or ',
        "",
        f"{_ANTHROPIC} -k thoughts",
        "thoughts go to the model that had them alone",
    ),
    Mutation(
        "coilclaw.providers.anthropic:_Exchange._messages",
        'turns[-1]["content"][-1] = {**turns[-1]["content"][-1], **_CACHED}',
        "pass",
        f"{_ANTHROPIC} -k cache",
        "the conversation is marked for the cache",
    ),
    Mutation(
        "coilclaw.providers.reading:_arguments",
        "json.dumps(read, allow_nan=False)",
        "pass",
        f"{_OPENAI} -k cannot_be_read",
        "arguments hold no number that JSON lacks",
    ),
    Mutation(
        "coilclaw.providers.reading:_free_id",
        "found in taken or ",
        "",
        f"{_OPENAI} {_ANTHROPIC}",
        "no two calls have one id",
    ),
    Mutation(
        "coilclaw.providers.reading:TextJoin.feed",
        'if text and "\\ud800" <= text[-1] <= "\\udbff":',
        "if False:",
        f"{_OPENAI} -k halves",
        "a character in two pieces is one character",
    ),
    Mutation(
        "coilclaw.providers.reliable:Reliable.stream",
        "if released:",
        "if False:",
        f"{_RELIABLE} -k shown",
        "text of one provider is not followed by another's",
    ),
    Mutation(
        "coilclaw.providers.reliable:Reliable._admit",
        "if error.kind not in _PASSES_ON:",
        "if False:",
        f"{_RELIABLE} -k refuses_or_garbles",
        "what a service refuses is not asked elsewhere",
    ),
    Mutation(
        "coilclaw.providers.credentials:_check_private",
        "if found.st_mode & 0o077 and",
        "if False and",
        f"{_CREDENTIALS} -k others_can_read",
        "a key lies in no file that others can read",
    ),
    Mutation(
        "coilclaw.providers.credentials:Credential.__post_init__",
        "if not _IN_A_HEADER.fullmatch(self.secret):",
        "if not self.secret:",
        f"{_CREDENTIALS} -k no_header",
        "a credential adds no header of its own",
    ),
    Mutation(
        "coilclaw.providers.fixtures:_compiled",
        '"rust-regex"',
        '"python-re"',
        f"{_MOCK} -k named_with_its_place",
        "no pattern takes long",
    ),
    Mutation(
        "coilclaw.providers.mock:MockProvider._take",
        "self._left.pop(place)",
        "self._left[place]",
        f"{_MOCK} -k in_order",
        "a reply is given once",
    ),
    Mutation(
        "coilclaw.providers.service:ModelService._attempt",
        "own.feed(exchange.feed(_checked(event.data, secret)))",
        "exchange.feed(_checked(event.data, secret))",
        "tests/providers/test_own_secret.py",
        "a credential that a service echoes is kept out of the stream",
    ),
    Mutation(
        "coilclaw.providers.service:ModelService._attempt",
        "        response = own.without(response)\n",
        "",
        "tests/providers/test_own_secret.py",
        "a credential that a service echoes is kept out of the response",
    ),
    Mutation(
        "coilclaw.providers.own_secret:OwnSecret.feed",
        "range(longest, 0, -1)",
        "range(0)",
        "tests/providers/test_own_secret.py -k split",
        "a credential is found across the pieces of a stream",
    ),
)
