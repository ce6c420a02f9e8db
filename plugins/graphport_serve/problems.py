"""Errors as RFC 9457 problem details, with the library's stable codes."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, Field
from starlette.responses import Response

from graphport import errors as core
from graphport.errors import GraphportError
from graphport_serve import errors

log = logging.getLogger("graphport.serve")

RETRY_SECONDS = 2
MEDIA_TYPE = "application/problem+json"

_STATUS: tuple[tuple[type[GraphportError], int], ...] = (  # the first that fits counts
    (errors.UnauthorizedError, 401),
    (errors.ForbiddenError, 403),
    (errors.HostNotAllowedError, 421),
    (errors.RouteNotFoundError, 404),
    (errors.BodyTooLargeError, 413),
    (errors.OverloadedError, 503),
    (errors.RequestTimeoutError, 503),
    (core.EntityConflictError, 409),
    (core.UnsupportedError, 409),
    (core.InvalidInputError, 422),
    (core.StorageFullError, 507),
    (core.StorageBusyError, 503),
    (core.StorageUnavailableError, 503),
    (core.StorageClosedError, 503),
    (core.BackendUnavailableError, 503),
)

_TOLD: dict[str, str] = {
    "storage-busy": "the knowledge base is being written by somebody else; try again in a moment",
    "storage-unavailable": "the database of this knowledge base cannot be reached; try again later",
    "storage-closed": "the server is shutting down; try again when it is back",
    "storage-full": "the server is out of space; whoever runs it must free some",
}
"""What a remote caller is told of trouble inside the server: the log has the rest, with paths and addresses."""


class InvalidField(BaseModel):
    """A value that cannot be, and where it stands in the request."""

    where: str
    message: str


class Problem(BaseModel):
    """Why a request was not answered. ``code`` is stable; the texts may change."""

    type: str = Field(examples=["urn:graphport:storage-busy"])
    title: str
    status: int
    detail: str
    code: str = Field(examples=["storage-busy"])
    errors: list[InvalidField] | None = None


def status_of(error: GraphportError) -> int:
    """The HTTP status of an error: 404 for whatever is not found, 500 for what is nobody's request's fault."""
    listed = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    return 404 if listed == 500 and isinstance(error, LookupError) else listed


def told(error: GraphportError) -> str:
    """What a caller is told; errors inside the server are logged and told in general words."""
    if status_of(error) < 500 or isinstance(error, errors.ServeError):
        return str(error)
    log.warning("%s: %s", error.code, error)
    return _TOLD.get(error.code, "the server cannot answer; its log says why")


def problem_response(error: GraphportError) -> Response:
    """``error`` as a response; Retry-After where another try may do."""
    status = status_of(error)
    headers = {"Retry-After": str(RETRY_SECONDS)} if status == 503 else {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return _response(status, error.code, told(error), headers=headers)


def invalid_request(found: Sequence[Any]) -> Response:
    """What pydantic refused; the values themselves are not sent back."""
    fields = [
        {
            "where": ".".join(str(part) for part in item["loc"]),
            "message": str(item["msg"]).removeprefix("Value error, "),
        }
        for item in found
    ]
    detail = "; ".join(f"{field['where']}: {field['message']}" for field in fields[:3])
    return _response(422, "invalid-request", detail, fields=fields[:50])


def internal_error() -> Response:
    return _response(500, "internal-error", "the server failed to answer; its log says why")


def not_routed(status: int, headers: dict[str, str]) -> Response:
    """What the web framework refused by itself: no such path (404), no such method there (405), a broken body."""
    if status == 400:
        return _response(
            400, "bad-request", "the body is no JSON that can be read; send UTF-8, less deep", headers=headers
        )
    code = {404: "not-found", 405: "method-not-allowed"}.get(status, "bad-request")
    return _response(status, code, "no such request; /openapi.json lists those there are", headers=headers)


def _response(
    status: int, code: str, detail: str, *, headers: dict[str, str] | None = None, fields: Any = None
) -> Response:
    body: dict[str, Any] = {
        "type": f"urn:graphport:{code}",
        "title": code.replace("-", " ").capitalize(),
        "status": status,
        "detail": detail,
        "code": code,
    }
    if fields is not None:
        body["errors"] = fields
    return Response(json.dumps(body, ensure_ascii=False), status, headers, media_type=MEDIA_TYPE)
