"""Numbers for Prometheus, about the server as a whole: no knowledge base is named in them."""

from __future__ import annotations

import time
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
GONE = 499
"""The status counted for a client that went away before it was answered; nginx's word for it."""
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """Counts of one server. The route label is the route's template, so callers cannot make new series."""

    def __init__(self, taken: Callable[[], int]) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "graphport_requests", "Requests answered.", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "graphport_request_seconds", "Time to the last byte.", ["route"], buckets=_BUCKETS, registry=self.registry
        )
        gauge = Gauge("graphport_work_taken", "Questions worked on or waiting.", registry=self.registry)
        gauge.set_function(taken)

    def text(self) -> bytes:
        return generate_latest(self.registry)


class MetricsGuard:
    """Counts each request, refused ones too."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = GONE
        start = time.perf_counter()

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watched)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.requests.labels(_method(scope["method"]), route, status).inc()
            self._metrics.seconds.labels(route).observe(time.perf_counter() - start)


def _method(method: str) -> str:
    return method if method in {"GET", "POST", "PATCH", "DELETE", "OPTIONS", "HEAD"} else "other"
