"""Mutants that break transactions, revisions, isolation or durability."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from graphport import Edge, GraphSnapshot, Node, Subgraph
from graphport.errors import StorageBusyError, StorageClosedError, UnsupportedError
from graphport.pending import PendingWrites
from graphport.traverse import neighborhood
from mutants.mutant import Mutant, caught_by


@caught_by("test_nothing_is_left_of_a_transaction_that_failed")
class CommitsOnRollback(Mutant):
    @contextmanager
    def transaction(self) -> Generator[None]:
        failed = None
        with super().transaction():
            try:
                yield
            except BaseException as error:  # noqa: BLE001 - raised again below
                failed = error
        if failed is not None:
            raise failed


@caught_by("test_any_exception_rolls_back")
class CommitsOnKeyboardInterrupt(Mutant):
    @contextmanager
    def transaction(self) -> Generator[None]:
        stopped = None
        with super().transaction():
            try:
                yield
            except (KeyboardInterrupt, SystemExit) as error:
                stopped = error
        if stopped is not None:
            raise stopped


@caught_by("test_a_generator_that_fails_midway_writes_nothing")
class WritesRowByRow(Mutant):
    def upsert_nodes(self, nodes: Iterable[Node], /) -> None:
        for node in nodes:
            super().upsert_nodes([node])


@caught_by("test_readers_never_see_half_a_batch")
class DeletesRowByRow(Mutant):
    def delete_nodes(self, ids: Iterable[str], /) -> int:
        return sum(super(DeletesRowByRow, self).delete_nodes([node_id]) for node_id in list(ids))


@caught_by("test_other_threads_see_nothing_before_the_commit")
class ShowsUncommittedWrites(Mutant):
    def _view(self) -> Any:
        return self._open.view if self._open is not None else super()._view()


@caught_by("test_an_iteration_that_began_in_a_transaction_ends_with_it[rollback]")
class IteratesOnAfterARollback(Mutant):
    def iter_nodes(self, **options: Any) -> Iterator[Node]:
        return self._still_view().iter_nodes(*(options.get(name) for name in ("kind", "name", "entry")))


@caught_by("test_a_neighborhood_is_of_one_state", persistent=True)
class WalksOverSeveralStates(Mutant):
    def neighborhood(self, seeds: Iterable[str], /, **options: Any) -> Subgraph:
        return neighborhood(self, seeds, **options)


@caught_by("test_a_transaction_sees_its_own_writes")
class DoesNotSeeItsOwnEdges(Mutant):
    def iter_edges(self, **options: Any) -> Iterator[Edge]:
        committed = self._committed().view
        return committed.iter_edges(None if options.get("kinds") is None else frozenset(options["kinds"]))


@caught_by("test_a_transaction_sees_its_own_writes")
class SnapshotsWhatIsCommitted(Mutant):
    def snapshot(self, **options: Any) -> GraphSnapshot:
        own, self._open = self._open, None
        try:
            return super().snapshot(**options)
        finally:
            self._open = own


@caught_by("test_a_snapshot_of_uncommitted_writes_has_no_revision")
class StampsUncommittedSnapshots(Mutant):
    def snapshot(self, **options: Any) -> GraphSnapshot:
        found = super().snapshot(**options)
        found.revision = self.revision()
        return found


@caught_by("test_a_transaction_does_not_nest")
class JoinsAnOpenTransaction(Mutant):
    @contextmanager
    def transaction(self) -> Generator[None]:
        with self._joined():
            yield


@caught_by("test_a_refused_batch_leaves_the_rest_of_the_transaction")
class AbortsAfterARefusedBatch(Mutant):
    def upsert_edges(self, edges: Iterable[Edge], /) -> None:
        try:
            super().upsert_edges(edges)
        except LookupError:
            own = self._own_transaction()
            if own is not None:
                own.pending = PendingWrites()
            raise


@caught_by("test_every_committed_write_moves_the_revision")
class DeletesWithoutARevision(Mutant):
    def delete_nodes(self, ids: Iterable[str], /) -> int:
        before = self._state.revision
        count = super().delete_nodes(ids)
        self._state = replace(self._state, revision=before)
        return count


@caught_by("test_reads_do_not_move_the_revision")
class CountsReads(Mutant):
    def get_nodes(self, ids: Iterable[str], /) -> dict[str, Node]:
        self._state = replace(self._state, revision=self._state.revision + 1)
        return super().get_nodes(ids)


@caught_by("test_the_revision_moves_at_the_commit_and_not_before")
class MovesTheRevisionEarly(Mutant):
    def revision(self) -> int:
        own = self._own_transaction()
        return super().revision() + (1 if own is not None and own.pending else 0)


@caught_by("test_what_was_refused_or_rolled_back_does_not_move_the_revision")
class CountsRollbacks(Mutant):
    @contextmanager
    def transaction(self) -> Generator[None]:
        try:
            with super().transaction():
                yield
        except BaseException:
            self._state = replace(self._state, revision=self._state.revision + 1)
            raise


@caught_by("test_every_call_after_close_is_refused")
class AnswersEmptyAfterClose(Mutant):
    def get_nodes(self, ids: Iterable[str], /) -> dict[str, Node]:
        try:
            return super().get_nodes(ids)
        except StorageClosedError:
            return {}


@caught_by("test_dropping_the_own_graph_empties_it_until_the_next_write")
class DropsOnlyTheName(Mutant):
    def drop_graph(self, name: str, /) -> bool:
        view = self._state.view
        dropped = super().drop_graph(name)
        self._state = replace(self._state, view=view)
        return dropped


@caught_by("test_reads_see_their_own_graph_only", persistent=True)
class ForgetsWhichGraphItIs(Mutant):
    def __init__(self, path: Any = None, *, graph: str = "graph", **options: Any) -> None:
        super().__init__(path, graph="graph", **options)
        self._graph = graph


@caught_by("test_a_write_reaches_its_own_graph_only[clear]", persistent=True)
class ClearsEveryGraph(Mutant):
    def clear(self) -> None:
        super().clear()
        assert self._file is not None
        for name in self._file.graphs():
            if name != self._graph:
                with self._transaction():
                    self._file.drop(name)


@caught_by("test_graph_names_are_any_text_and_all_different", persistent=True)
class TruncatesGraphNames(Mutant):
    def __init__(self, path: Any = None, *, graph: str = "graph", **options: Any) -> None:
        super().__init__(path, graph=graph.encode()[:63].decode(errors="ignore"), **options)
        self._graph = graph


@caught_by("test_reopening_sees_everything", persistent=True)
class KeepsDeletesInMemory(Mutant):
    def delete_nodes(self, ids: Iterable[str], /) -> int:
        file, self._file = self._file, None
        try:
            return super().delete_nodes(ids)
        finally:
            self._file = file


@caught_by("test_two_handles_of_one_process", persistent=True)
class NeverLooksAgain(Mutant):
    def _committed(self) -> Any:
        if self._state.revision == 0:
            return super()._committed()
        with self._reading:
            self._require_open()
            return self._state


@caught_by("test_a_read_only_handle_reads_and_refuses_to_write", persistent=True)
class IgnoresWritesWhenReadOnly(Mutant):
    def upsert_nodes(self, nodes: Iterable[Node], /) -> None:
        try:
            super().upsert_nodes(nodes)
        except UnsupportedError:
            return


@caught_by("test_a_second_writer_waits_and_is_then_told_so", persistent=True)
class DropsWritesWhenBusy(Mutant):
    def upsert_nodes(self, nodes: Iterable[Node], /) -> None:
        try:
            super().upsert_nodes(nodes)
        except StorageBusyError:
            return


@caught_by("test_the_engine_holds_what_was_written", persistent=True)
class IsConsistentlyWrong(Mutant):
    """Keeps its own copy in memory, so that what it answers is right and what it stored is not."""

    def upsert_edges(self, edges: Iterable[Edge], /) -> None:
        edges = list(edges)
        super().upsert_edges(edges)
        if self._own_transaction() is None and self._file is not None:
            kept = self._state
            super().delete_edges([edge.key for edge in edges if edge.weight == 0.1])
            self._state = replace(kept, revision=self._state.revision)


@caught_by("test_what_others_wrote_into_the_engine_is_seen")
class CachesForever(Mutant):
    _kept: Any = None

    def _view(self) -> Any:
        return super()._view() if self._kept is None or self._open is not None else self._kept

    def _publish(self, state: Any) -> None:
        super()._publish(state)
        self._kept = state.view
