"""Find out who sends a request, from its headers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from coilclaw.access import RunToken, Scope
from coilclaw.gateway.errors import ApiError
from coilclaw.gateway.principal import Principal

if TYPE_CHECKING:
    from coilclaw.access import Access, Session

__all__ = ["Identity", "RequestHeaders", "Sender", "authenticate"]

Identity: TypeAlias = Principal | RunToken


class RequestHeaders:
    """The headers of a request; one that decides about security must not be given twice."""

    def __init__(self, headers: list[tuple[bytes, bytes]]) -> None:
        self._headers = headers

    def all(self, name: str) -> list[str]:
        """Return every value of a header, without spaces around it."""
        wanted = name.lower().encode()
        return [value.decode("latin-1").strip(" \t") for key, value in self._headers if key.lower() == wanted]

    def one(self, name: str) -> str | None:
        """Return the value of a header, or None. Raises ApiError if it is given twice."""
        found = self.all(name)
        if len(found) > 1:
            raise ApiError(400, "invalid_request", f"the header {name} is given twice")
        return found[0] if found else None

    def cookie(self, name: str) -> str | None:
        """Return the value of a cookie, or None. Raises ApiError if it is given twice."""
        pairs = (pair.strip().partition("=") for text in self.all("cookie") for pair in text.split(";"))
        found = [value for key, _, value in pairs if key == name]
        if len(found) > 1:
            # A page on another port can set a cookie of this name beside ours.
            raise ApiError(400, "invalid_request", "the session's cookie is given twice", hint="clear the cookies")
        return found[0] if found else None


class Sender(NamedTuple):
    """Who sends a request; without an identity, `presented` says whether anything was presented."""

    identity: Identity | None
    presented: bool
    has_secret: bool = True
    """Whether a browser's session also sent its header secret. Others need none."""


def authenticate(access: Access, headers: RequestHeaders, cookie_name: str) -> Sender:
    """Return the sender of a request. Reads the store.

    A bearer token is looked at alone: one that is wrong is not made good by a cookie that is right.
    """
    authorization = headers.one("authorization")
    if authorization is not None:
        kind, _, text = authorization.partition(" ")
        return Sender(_of_bearer(access, text.strip()) if kind.lower() == "bearer" else None, presented=True)
    cookie = headers.cookie(cookie_name)
    if cookie is None:
        return Sender(None, presented=False)
    session = access.sessions.find(cookie)
    if session is None:
        return Sender(None, presented=True)
    secret = headers.one("x-coilclaw-secret")
    return Sender(_of_session(session), presented=True, has_secret=secret is not None and session.has_secret(secret))


def _of_bearer(access: Access, text: str) -> Identity | None:
    token = access.tokens.find(text)
    if token is None:
        return access.run_tokens.find(text)
    return Principal(
        kind="token", id=token.token_id, name=f"token {token.name}", scope=token.scope, expires_at=token.expires_at
    )


def _of_session(session: Session) -> Principal:
    return Principal(
        kind="session",
        id=session.session_id,
        name=f"session {session.name}",
        scope=Scope.OPERATOR,
        expires_at=session.expires_at,
    )
