"""Small broken storages, each with the contract test that must catch it; `MUTANTS` has them all."""

from __future__ import annotations

from mutants import feeds, graph, handles, values
from mutants.mutant import MUTANTS, Mutant

__all__ = ["MUTANTS", "Mutant", "feeds", "graph", "handles", "values"]
