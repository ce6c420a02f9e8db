"""What a surface refuses before or instead of asking a knowledge base.

::

    GraphportError
    └── ServeError
        ├── UnauthorizedError        no token, or one that is not known
        ├── ForbiddenError           a token without the scope it needs
        ├── HostNotAllowedError      a Host or Origin this server does not answer to
        ├── RouteNotFoundError       no such path, or no such method there
        ├── BodyTooLargeError
        ├── OverloadedError          as many requests as may wait are waiting
        └── RequestTimeoutError      the answer took longer than a request may
"""

from __future__ import annotations

from graphport.errors import GraphportError


class ServeError(GraphportError):
    code = "serve-error"


class UnauthorizedError(ServeError):
    code = "unauthorized"


class ForbiddenError(ServeError):
    code = "forbidden"


class HostNotAllowedError(ServeError):
    code = "host-not-allowed"


class RouteNotFoundError(ServeError):
    code = "not-found"


class BodyTooLargeError(ServeError):
    code = "body-too-large"


class OverloadedError(ServeError):
    code = "overloaded"


class RequestTimeoutError(ServeError):
    code = "request-timeout"
