"""Finding plugins, and opening a backend by name."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pluggy
from pydantic import ValidationError

from graphport import hookspecs
from graphport.errors import (
    BackendNotFoundError,
    BackendUnavailableError,
    ConfigError,
    PluginConflictError,
    UnsupportedError,
)
from graphport.model import check_text
from graphport.storage import Backend, BackendOptions, Capability, GraphStorage

if TYPE_CHECKING:
    import click

    from graphport.batch import BatchEngine
    from graphport.builders import Builder
    from graphport.embedding import EmbedderSpec
    from graphport.proposals import EntityProposer

log = logging.getLogger("graphport")


class _Named(Protocol):
    @property
    def name(self) -> str: ...


N = TypeVar("N", bound=_Named)


class Plugins:
    """The plugins of one process: loaded once each, a broken one left out with a warning.

    ``broken`` maps the name of each entry point that could not be loaded to the reason.
    """

    def __init__(self, found: Sequence[EntryPoint]) -> None:
        self.manager = pluggy.PluginManager(hookspecs.PROJECT)
        self.manager.add_hookspecs(hookspecs)
        self.broken: dict[str, str] = {}
        for entry_point in sorted(found, key=lambda point: (point.name, point.value)):
            self._load(entry_point)

    def _load(self, entry_point: EntryPoint) -> None:
        label = f"{entry_point.name} ({entry_point.value})"
        try:
            plugin = entry_point.load()
            if not self.manager.is_registered(plugin):  # an editable install lists an entry point twice
                self.manager.register(plugin, name=f"{entry_point.name}={entry_point.value}")
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger's module must not take the rest along
            self.broken[label] = f"{type(error).__name__}: {error}"
            log.warning("plugin %s is left out: %s: %s", label, type(error).__name__, error)

    def backends(self) -> dict[str, Backend]:
        """Declared backends by name, sorted."""
        return self._collect("graphport_backends", "backend", Backend)

    def builders(self) -> dict[str, Builder]:
        """Graph builders by name, sorted."""
        return self._collect("graphport_builders", "builder")

    def embedders(self) -> dict[str, EmbedderSpec]:
        """Embedders by name, sorted."""
        return self._collect("graphport_embedders", "embedder")

    def batch_engines(self) -> dict[str, BatchEngine]:
        """Engines for many seed sets, by name, sorted."""
        return self._collect("graphport_batch_engines", "engine")

    def proposers(self) -> dict[str, EntityProposer]:
        """Entity proposers by name, sorted."""
        return self._collect("graphport_proposers", "proposer")

    def commands(self) -> dict[str, click.Command]:
        """Commands by name, sorted."""
        return self._collect("graphport_commands", "command")

    def _collect(self, hook: str, what: str, kind: type = object) -> dict[str, Any]:
        owners: dict[str, str] = {}
        found: dict[str, Any] = {}
        for implementation in getattr(self.manager.hook, hook).get_hookimpls():
            owner = str(implementation.plugin_name).partition("=")[2] or str(implementation.plugin_name)
            for item in self._ask(implementation.function, owner, what, kind):
                if item.name in found:
                    raise PluginConflictError(
                        f"{what} {item.name!r} is offered by {owners[item.name]} and by {owner}; uninstall one of them"
                    )
                found[item.name], owners[item.name] = item, owner
        return dict(sorted(found.items()))

    def _ask(self, function: Callable[[], Sequence[Any]], owner: str, what: str, kind: type) -> Sequence[Any]:
        try:
            return tuple(_require_named(item, what, kind) for item in function())
        except (Exception, SystemExit) as error:  # noqa: BLE001 - as in _load
            self.broken[owner] = f"{type(error).__name__}: {error}"
            log.warning("plugin %s is left out: %s: %s", owner, type(error).__name__, error)
            return ()


def _require_named(item: Any, what: str, kind: type) -> Any:
    if not isinstance(item, kind) or not isinstance(getattr(item, "name", None), str):
        raise TypeError(f"it offers {item!r:.80}, which is no {what} with a name")
    return item


@cache
def plugins() -> Plugins:
    """The installed plugins, found on first use; ``plugins.cache_clear()`` looks again."""
    return Plugins(list(entry_points(group=hookspecs.PROJECT)))


def available_backends() -> dict[str, Backend]:
    """Every backend that is declared, by name; `Backend.missing` says whether it can be opened here."""
    return plugins().backends()


def find_backend(name: str) -> Backend:
    """The backend of that name; else `BackendNotFoundError`."""
    backends = available_backends()
    if name not in backends:
        close = difflib.get_close_matches(str(name), backends, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise BackendNotFoundError(f"no backend {name!r}; installed: {', '.join(backends) or 'none'}{hint}")
    return backends[name]


def open_storage(backend: str | Backend, /, **options: Any) -> GraphStorage:
    """Open a graph: ``open_storage("kuzu", path="g.kuzu", graph="notes")``.

    Raises `BackendNotFoundError`, `BackendUnavailableError` (with the command that installs the
    driver), `ConfigError` for options the backend does not take, `InvalidIdError` for a ``graph`` that is no
    name, `UnsupportedError` for ``path`` or ``read_only`` where the backend has no such capability, or a
    `StorageError`.
    """
    chosen = find_backend(backend) if isinstance(backend, str) else backend
    return open_backend(chosen, backend_options(chosen, options))


def open_backend(backend: Backend, options: BackendOptions) -> GraphStorage:
    """Open a backend with options that `backend_options` checked; raises as `open_storage`."""
    reason = backend.missing()
    if reason is not None:
        raise _unavailable(backend, reason)
    try:
        return backend.open(options)
    except ModuleNotFoundError as error:  # a driver that `missing` did not look for
        raise _unavailable(backend, str(error)) from error


def _unavailable(backend: Backend, reason: str) -> BackendUnavailableError:
    hint = f"; {backend.install_hint}" if backend.install_hint else ""
    return BackendUnavailableError(f"backend {backend.name!r} cannot be opened here: {reason}{hint}")


def backend_options(backend: Backend, options: dict[str, Any], *, file: str = "", key: str = "") -> BackendOptions:
    """``options`` as the backend's own model, checked against what it declares; opens nothing.

    Raises `ConfigError`, `UnsupportedError`, and `InvalidIdError` for a ``graph`` that is no name.
    """

    def refused(why: str, where: str) -> ConfigError:
        known = ", ".join(sorted(backend.options_model.model_fields))
        return ConfigError(
            f"backend {backend.name!r}: {why}; its options are {known}",
            problem="bad-backend-option",
            key=".".join(part for part in (key, where) if part),
            file=file,
        )

    if options.get("path") is not None and Capability.PERSISTENT not in backend.capabilities:
        raise UnsupportedError(f"backend {backend.name!r} keeps nothing on disk; leave path out")
    try:
        parsed = backend.options_model.model_validate(options)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        why = first["msg"].removeprefix("Value error, ")
        raise refused(why, ".".join(str(part) for part in first["loc"])) from error
    path = options.get("path")
    if path is not None and (path == "" or "\0" in str(path)):  # "" would be the folder of whoever runs this
        raise refused(f"path is {str(path)!r:.80}; name a file or folder", "path")
    check_text(parsed.graph, "graph name")
    if parsed.read_only and Capability.READ_ONLY not in backend.capabilities:
        raise UnsupportedError(f"backend {backend.name!r} cannot open a graph read-only; leave read_only out")
    return parsed
