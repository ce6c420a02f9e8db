"""Who may see what: bearer tokens, their scopes and their knowledge bases."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import os
from collections.abc import Collection
from dataclasses import dataclass

from graphport.config import Config
from graphport.errors import ConfigError
from graphport.server_config import MIN_TOKEN, Scope, TokenConfig
from graphport_serve.errors import ForbiddenError, UnauthorizedError

TOKEN_VARIABLE = "GRAPHPORT_TOKEN"  # noqa: S105 - the name of a variable


@dataclass(frozen=True, slots=True)
class Access:
    """What a caller may do; ``bases`` None means every knowledge base."""

    scopes: frozenset[Scope]
    bases: frozenset[str] | None = None

    def sees(self, name: str) -> bool:
        return self.bases is None or name in self.bases

    def visible(self, names: Collection[str]) -> list[str]:
        """Those of ``names`` the caller may know of, sorted."""
        return sorted(name for name in names if self.sees(name))

    def require(self, scope: Scope) -> None:
        """Raises `ForbiddenError` unless the caller has the scope."""
        if scope not in self.scopes:
            raise ForbiddenError(f"this token has no {scope!r} scope; use one that has")


EVERYTHING = Access(frozenset({"read", "write"}))


class Tokens:
    """The known tokens, kept as digests. Without any, everybody has `EVERYTHING`."""

    def __init__(self, tokens: Collection[TokenConfig]) -> None:
        self._known: list[tuple[bytes, Access]] = []
        for item in tokens:
            digest = _digest(item.token.get_secret_value())
            if any(hmac.compare_digest(digest, known) for known, _ in self._known):
                raise ConfigError(
                    "two tokens are the same; give each caller its own", problem="duplicate-token", key="server.tokens"
                )
            self._known.append((digest, Access(item.scopes, item.knowledge_bases)))

    def __bool__(self) -> bool:
        return bool(self._known)

    def access(self, authorization: str | None) -> Access:
        """What the ``Authorization`` header opens; `UnauthorizedError` if it opens nothing.

        Every known token is compared, each in constant time, so the time taken tells nothing.
        """
        if not self._known:
            return EVERYTHING
        scheme, _, given = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not given:
            raise UnauthorizedError("this server needs a token; send the header Authorization: Bearer TOKEN")
        digest = _digest(given.strip())
        matches = [access for known, access in self._known if hmac.compare_digest(digest, known)]
        if not matches:
            raise UnauthorizedError("this token is not known here; ask whoever runs the server for one")
        return matches[0]


def tokens_of(config: Config) -> Tokens:
    """The config's tokens, and the one in ``$GRAPHPORT_TOKEN``, which opens everything."""
    given = list(config.server.tokens)
    secret = os.environ.get(TOKEN_VARIABLE)
    if secret:
        try:
            given.append(TokenConfig.model_validate({"token": secret, "scopes": {"read", "write"}}))
        except ValueError:
            raise ConfigError(
                f"${TOKEN_VARIABLE} must be at least {MIN_TOKEN} ASCII characters without white space",
                problem="bad-server-token",
            ) from None  # pydantic's message is about the token itself
    return Tokens(given)


def check_exposure(host: str, tokens: Tokens) -> None:
    """Raises `ConfigError` (``public-without-token``) for an address others can reach and no token."""
    if not tokens and not is_loopback(host):
        raise ConfigError(
            f"{host!r} can be reached by others and there is no token; add server.tokens to the config, "
            f"set ${TOKEN_VARIABLE}, or listen on 127.0.0.1",
            problem="public-without-token",
            key="server.host",
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach ``host``; a name other than localhost counts as public."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
