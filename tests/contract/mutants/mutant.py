"""What a mutant is: the in-process storage with one promise broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeVar

from graphport_memory.storage import MemoryStorage
from graphport_memory.view import View

MUTANTS: list[type[Mutant]] = []


class Mutant(MemoryStorage):
    """``caught_by`` names the contract test that fails; ``persistent`` mutants are tested with a file."""

    caught_by: ClassVar[str] = ""
    persistent: ClassVar[bool] = False
    asked = 0
    """Requests to the engine, for the contract's count of round trips."""

    def _view(self) -> View:
        self.asked += 1
        return super()._view()


M = TypeVar("M", bound=type[Mutant])


def caught_by(test: str, *, persistent: bool = False) -> Callable[[M], M]:
    """Enter a mutant into the suite."""

    def enter(mutant: M) -> M:
        mutant.caught_by = test
        mutant.persistent = persistent
        MUTANTS.append(mutant)
        return mutant

    return enter
