"""The ``server:`` section of a config: where to listen, who may ask, and how much at once."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

Scope = Literal["read", "write"]
MIN_TOKEN = 16


class _ServerSection(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class TokenConfig(_ServerSection):
    """A bearer token and what it opens: ``scopes``, and the ``knowledge_bases`` it may see (None: all)."""

    token: SecretStr
    scopes: frozenset[Scope] = frozenset({"read"})
    knowledge_bases: frozenset[str] | None = None

    @field_validator("token")
    @classmethod
    def _token_is_long(cls, value: SecretStr) -> SecretStr:
        if len(value.get_secret_value()) < MIN_TOKEN:
            raise ValueError(f"a token must have at least {MIN_TOKEN} characters; make one with: openssl rand -hex 32")
        if not value.get_secret_value().isascii() or any(char.isspace() for char in value.get_secret_value()):
            raise ValueError("a token must be ASCII without white space, as it travels in an HTTP header")
        return value


class ServerConfig(_ServerSection):
    """How ``graphport serve`` serves.

    Without ``tokens`` it answers anybody, and therefore only on a loopback ``host``. ``allowed_hosts`` are
    further names it may be called by, ``cors_origins`` the other web origins whose pages may read it.
    Of each knowledge base ``threads`` requests are worked on at once and ``queue`` may wait; a request ends
    after ``request_seconds``, and its body has at most ``max_body_bytes``.
    """

    host: str = "127.0.0.1"
    port: int = Field(default=8765, ge=0, le=65535)
    tokens: tuple[TokenConfig, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    threads: int = Field(default=4, ge=1, le=256)
    queue: int = Field(default=32, ge=0, le=10_000)
    request_seconds: float = Field(default=30, gt=0, le=3600, allow_inf_nan=False)
    max_body_bytes: int = Field(default=2_000_000, ge=1, le=1_000_000_000)
