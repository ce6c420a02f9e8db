"""Who is asking, as the routes see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from graphport.knowledge.base import KnowledgeBase
from graphport.server_config import Scope
from graphport_serve.access import Access
from graphport_serve.guards import access_of
from graphport_serve.service import Service

T = TypeVar("T")

_bearer = HTTPBearer(auto_error=False, description="A token of the server's config, if it has any.")
"""Documents the header in the OpenAPI document; `AuthGuard` has read it by then."""


class Caller:
    """One request's access to the service."""

    def __init__(self, service: Service, access: Access) -> None:
        self.service = service
        self.access = access

    async def ask(self, name: str, question: Callable[[KnowledgeBase], T], *, scope: Scope = "read") -> T:
        """`Service.ask` with this caller's access."""
        return await self.service.ask(self.access, name, question, scope=scope)

    async def names(self) -> list[str]:
        return await self.service.names(self.access)


async def _caller(request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]) -> Caller:
    return Caller(request.app.state.service, access_of(request.scope))


Who = Annotated[Caller, Depends(_caller)]
