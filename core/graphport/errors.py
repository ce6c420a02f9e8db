"""Every error graphport raises on purpose.

::

    GraphportError
    ├── InvalidInputError (ValueError)
    │   ├── InvalidIdError            an id, name or kind that no backend may hold
    │   ├── InvalidWeightError        NaN, infinite or negative
    │   ├── InvalidPropsError         not a JSON object, or outside int64 / finite floats
    │   ├── InvalidRowError (TypeError)    not a Node, an Edge or a Hit, or nothing to iterate over
    │   ├── InvalidSeedsError         no seeds, or seed weights that are not a distribution
    │   ├── InvalidVectorError        wrong width, NaN or not a vector
    │   └── InvalidQueryError         an empty query or an option out of range
    ├── ConfigError (ValueError)
    ├── MissingNodeError (LookupError)
    ├── EntryNotFoundError (LookupError)
    ├── EntityConflictError (ValueError)   a runtime change to a declared entity
    ├── KnowledgeBaseNotFoundError (LookupError)
    ├── BackendNotFoundError (LookupError)
    ├── BackendUnavailableError (ImportError)
    ├── PluginConflictError
    ├── UnsupportedError (NotImplementedError)
    ├── ConvergenceError (ArithmeticError)
    ├── SourceError (OSError)         a file or folder that cannot be read
    └── StorageError
        ├── StorageBusyError          somebody else holds it; try again
        ├── StorageUnavailableError   the server or file cannot be reached
        │   └── StorageFormatError    it was written by another version of graphport
        ├── StorageCorruptError       the bytes are there and make no sense
        ├── StorageFullError          out of space or memory
        ├── StorageClosedError        used after close()
        └── TransactionError          nested, used where none may be open, or outlived by an iteration

``code`` is stable and is what REST and MCP answer with; a message may change.
"""

from __future__ import annotations

from typing import ClassVar


class GraphportError(Exception):
    """Root of everything graphport raises on purpose."""

    code: ClassVar[str] = "graphport-error"


class InvalidInputError(GraphportError, ValueError):
    code = "invalid-input"


class InvalidIdError(InvalidInputError):
    code = "invalid-id"


class InvalidWeightError(InvalidInputError):
    code = "invalid-weight"


class InvalidPropsError(InvalidInputError):
    code = "invalid-props"


class InvalidRowError(InvalidInputError, TypeError):
    code = "invalid-row"


class InvalidSeedsError(InvalidInputError):
    code = "invalid-seeds"


class InvalidVectorError(InvalidInputError):
    code = "invalid-vector"


class InvalidQueryError(InvalidInputError):
    code = "invalid-query"


class ConfigError(GraphportError, ValueError):
    """A config that cannot be used; ``problem`` is its stable code (``bad-knowledge-graph-weight``)."""

    code = "bad-config"

    def __init__(self, message: str, *, problem: str = "bad-config", key: str = "", file: str = "") -> None:
        where = ": ".join(part for part in (file, key) if part)
        super().__init__(f"{where}: {message} [{problem}]" if where else f"{message} [{problem}]")
        self.problem = problem
        self.key = key
        self.file = file


class MissingNodeError(GraphportError, LookupError):
    """Ids that must be in the graph and are not; ``ids`` names them."""

    code = "missing-node"

    def __init__(self, message: str, ids: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.ids = ids


class EntryNotFoundError(GraphportError, LookupError):
    code = "entry-not-found"


class EntityConflictError(GraphportError, ValueError):
    code = "entity-conflict"


class KnowledgeBaseNotFoundError(GraphportError, LookupError):
    code = "knowledge-base-not-found"


class BackendNotFoundError(GraphportError, LookupError):
    code = "backend-not-found"


class BackendUnavailableError(GraphportError, ImportError):
    code = "backend-unavailable"


class PluginConflictError(GraphportError):
    code = "plugin-conflict"


class UnsupportedError(GraphportError, NotImplementedError):
    code = "unsupported"


class ConvergenceError(GraphportError, ArithmeticError):
    code = "no-convergence"


class SourceError(GraphportError, OSError):
    code = "unreadable-source"


class StorageError(GraphportError):
    code = "storage-error"


class StorageBusyError(StorageError):
    code = "storage-busy"


class StorageUnavailableError(StorageError):
    code = "storage-unavailable"


class StorageFormatError(StorageUnavailableError):
    code = "storage-format"


class StorageCorruptError(StorageError):
    code = "storage-corrupt"


class StorageFullError(StorageError):
    code = "storage-full"


class StorageClosedError(StorageError):
    code = "storage-closed"


class TransactionError(StorageError):
    code = "transaction-error"
