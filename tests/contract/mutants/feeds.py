"""Mutants whose change feed says too little, too much, or anything at all."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

from graphport import GraphSnapshot
from graphport.changes import GraphChanges
from graphport.pending import PendingWrites
from mutants.mutant import Mutant, caught_by


@caught_by("test_a_patched_snapshot_is_a_new_one_array_for_array[0]")
class ForgetsDeletionsInTheFeed(Mutant):
    def changes_since(self, revision: int, /) -> GraphChanges | None:
        changes = super().changes_since(revision)
        return None if changes is None else replace(changes, deleted_nodes=(), deleted_edges=())


@caught_by("test_a_node_that_was_deleted_and_made_again_lost_its_edges")
class TellsOfNodesAsTheyEnded(Mutant):
    def changes_since(self, revision: int, /) -> GraphChanges | None:
        changes = super().changes_since(revision)
        if changes is None:
            return None
        return replace(changes, deleted_nodes=tuple(key for key in changes.deleted_nodes if key not in changes.nodes))


@caught_by("test_changes_are_told_or_refused")
class NeverKnowsWhatChanged(Mutant):
    def changes_since(self, revision: int, /) -> GraphChanges | None:
        changes = super().changes_since(revision)
        return changes if changes is None or not len(changes) else None


@caught_by("test_what_was_rolled_back_is_not_in_the_feed")
class FeedsWhatWasRolledBack(Mutant):
    @contextmanager
    def transaction(self) -> Generator[None]:
        with super().transaction():
            try:
                yield
            except ZeroDivisionError:
                assert self._open is not None
                self._commit(self._open)
                raise


@caught_by("test_the_feed_does_not_reach_over_what_replaced_the_graph")
class FeedsOverABulkLoad(Mutant):
    def bulk_load(self, graph: GraphSnapshot, /) -> None:
        super().bulk_load(graph)
        self._feed.add(self._state.revision, PendingWrites())


@caught_by("test_a_graph_that_outlives_its_handles_has_an_identity_of_its_own", persistent=True)
class CallsEveryGraphTheSame(Mutant):
    def identity(self) -> str | None:
        return "graph"


@caught_by("test_a_graph_that_outlives_its_handles_has_an_identity_of_its_own", persistent=True)
class CallsEachHandleByAnother(Mutant):
    def identity(self) -> str | None:
        return str(id(self))


@caught_by("test_a_commit_of_another_handle_is_in_the_feed", persistent=True)
class FeedsItsOwnCommitsOnly(Mutant):
    def changes_since(self, revision: int, /) -> GraphChanges | None:
        return self._feed.between(revision, self._state.revision)
