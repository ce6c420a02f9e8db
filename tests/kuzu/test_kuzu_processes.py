"""Several processes, several handles, threads and forks on one graph."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from kuzu_child import DRIVER, Child, run

from graphport import Edge, GraphSnapshot, GraphStorage, Node
from graphport.errors import StorageBusyError, UnsupportedError

Open = Callable[..., GraphStorage]
Hold = Callable[..., Child]
HOLD = """
graph = open_graph(read_only={read_only})
say("holds")
sys.stdin.readline()
graph.close()
say("closed")
"""


@pytest.fixture
def hold(options: dict[str, Any], open_graph: Open) -> Iterator[Hold]:
    """Starts a process that holds the graph until it is told to let go."""
    open_graph().close()
    with ExitStack() as stack:

        def start(*, read_only: bool = False) -> Child:
            child = stack.enter_context(Child(options, HOLD.format(read_only=read_only)))
            assert child.hear() == "holds"
            return child

        yield start


def test_a_second_writing_process_is_told_at_once_who_is_writing(
    hold: Hold, options: dict[str, Any], open_graph: Open
) -> None:
    child = hold()
    started = time.monotonic()
    with pytest.raises(StorageBusyError) as caught:
        open_graph()
    assert time.monotonic() - started < 2
    assert str(Path(options["path"]) / "graph") in str(caught.value)
    assert f"process {child.pid}" in str(caught.value)
    assert child.tell() == "closed"
    open_graph().close()


def test_a_writer_waits_busy_timeout_for_another_process(hold: Hold, open_graph: Open, options: dict[str, Any]) -> None:
    child = hold()
    started = time.monotonic()
    with pytest.raises(StorageBusyError):
        open_graph(busy_timeout=0.5)
    assert time.monotonic() - started >= 0.5
    with Child(options, "with open_graph(busy_timeout=60.0) as graph:\n    say(graph.counts().nodes)") as waiting:
        time.sleep(0.3)
        assert child.tell() == "closed"
        assert waiting.end() == "0"


def test_another_graph_of_the_store_is_free(hold: Hold, open_graph: Open) -> None:
    hold()
    with open_graph(graph="other") as other:
        other.upsert_nodes([Node("a", "k", "a")])
        with pytest.raises(StorageBusyError):
            other.drop_graph("graph")
        assert other.graphs() == ["graph", "other"]


def test_the_engine_open_in_another_program_is_busy_too(options: dict[str, Any], open_graph: Open) -> None:
    open_graph().close()
    (database,) = Path(options["path"]).glob("graph/gen-*/graph.db")
    code = f"import {DRIVER}\ndatabase = {DRIVER}.Database({str(database)!r}, max_db_size=1 << 36)\nsay('open')\n"
    with Child(options, f"import importlib.util\n{code}sys.stdin.readline()\nos._exit(0)") as stranger:
        assert stranger.hear() == "open"
        with pytest.raises(StorageBusyError, match=str(database)):
            open_graph()
        stranger.tell()
    open_graph().close()


READ = """
try:
    graph = open_graph(read_only=True)
except StorageBusyError:
    say("busy")
    sys.exit()
say("reads")
for line in sys.stdin:
    ids = " ".join(node.id for node in graph.iter_nodes())
    say(f"revision {graph.revision()}: {ids}, {graph.counts().edges} edges, {graph.snapshot().n_nodes}")
"""


def test_a_reading_process_beside_a_writer(options: dict[str, Any], open_graph: Open) -> None:
    """ladybug lets it in, and it sees each commit, whatever the writer does to the files; kuzu does not."""
    with open_graph() as graph:
        graph.upsert_nodes([Node("a", "k", "a"), Node("b", "k", "b")])
        with Child(options, READ) as reader:
            if DRIVER == "kuzu":
                assert reader.hear() == "busy"
                return
            assert reader.hear() == "reads"
            assert reader.tell() == "revision 1: a b, 0 edges, 2"
            graph.upsert_edges([Edge("a", "b", "e")])
            assert reader.tell() == "revision 2: a b, 1 edges, 2"
            with graph.transaction():
                graph.delete_nodes(["a"])
                assert reader.tell() == "revision 2: a b, 1 edges, 2"
            assert reader.tell() == "revision 3: b, 0 edges, 1"
            graph.bulk_load(GraphSnapshot.from_rows([Node("x", "k", "x")], [Edge("x", "x", "e")]))
            assert reader.tell() == "revision 4: x, 1 edges, 1"
            assert graph.drop_graph("graph")
            assert reader.tell() == "revision 5: , 0 edges, 0"
            graph.upsert_nodes([Node("again", "k", "again")])
            assert reader.tell() == "revision 6: again, 0 edges, 1"


def test_reading_processes_side_by_side(hold: Hold, open_graph: Open) -> None:
    hold(read_only=True)
    with open_graph(read_only=True) as graph:
        assert graph.counts().nodes == 0
    if DRIVER == "kuzu":
        with pytest.raises(StorageBusyError):
            open_graph()
    else:
        open_graph().close()


WRITE = """
graph = open_graph()
say("writes")
for number in range(1, 100_000):
    graph.upsert_nodes([Node("a", "k", str(number)), Node("b", "k", str(number))])
    if number % 20 == 0:
        graph.bulk_load(graph.snapshot())
"""


def test_a_reader_is_never_torn_while_another_process_writes(options: dict[str, Any], open_graph: Open) -> None:
    if DRIVER == "kuzu":
        return  # it lets no reader in: test_a_reading_process_beside_a_writer
    with open_graph() as graph:
        graph.upsert_nodes([Node("a", "k", "0"), Node("b", "k", "0")])
    seen: list[int] = []
    with Child(options, WRITE) as writer:
        assert writer.hear() == "writes"
        with open_graph(read_only=True) as reader:
            started = time.monotonic()
            while (passed := time.monotonic() - started) < 3 or (len(set(seen)) <= 5 and passed < 60):
                a, b = (int(node.name) for node in reader.get_nodes(["a", "b"]).values())
                assert a == b
                seen.append(a)
    assert seen == sorted(seen)
    assert len(set(seen)) > 5


def test_handles_of_one_process_share_the_database_whatever_they_may_do(
    open_graph: Open, options: dict[str, Any]
) -> None:
    reader = None
    with open_graph() as writer:
        writer.upsert_nodes([Node("a", "k", "a")])
        reader = open_graph(read_only=True)
        writer.upsert_nodes([Node("b", "k", "b")])
        assert reader.counts().nodes == 2
        with pytest.raises(UnsupportedError):
            reader.clear()
    assert reader.counts().nodes == 2
    if DRIVER == "ladybug":  # the last writing handle is closed: another process may write, and is seen
        run(options, "with open_graph() as graph:\n    graph.upsert_nodes([Node('c', 'k', 'c')])")
        assert reader.counts().nodes == 3
    with open_graph() as writer:
        writer.delete_nodes(["a"])
        assert list(reader.get_nodes(["a", "b"])) == ["b"]
    reader.close()
    run(options, "with open_graph() as graph:\n    say(graph.counts().nodes)")


def test_a_second_handle_waits_for_the_firsts_transaction_no_longer_than_allowed(open_graph: Open) -> None:
    with open_graph() as first, open_graph(busy_timeout=0.1) as second:
        with first.transaction():
            first.upsert_nodes([Node("a", "k", "a")])
            with pytest.raises(StorageBusyError):
                second.upsert_nodes([Node("b", "k", "b")])
            assert second.counts().nodes == 0
        second.upsert_nodes([Node("b", "k", "b")])
        assert first.counts().nodes == 2


def test_what_iteration_began_with_outlives_whatever_happens_to_the_files(open_graph: Open) -> None:
    nodes = [Node(f"n{number:05d}", "k", "n") for number in range(9_000)]
    with open_graph() as graph:
        graph.bulk_load(GraphSnapshot.from_rows(nodes, []))
        rows = graph.iter_nodes()
        assert next(rows) == nodes[0]
        graph.clear()
        graph.drop_graph("graph")
        graph.close()
        assert list(rows) == nodes[1:]


FORK = """
import gc, threading
graph = open_graph()
graph.upsert_nodes([Node("a", "k", "a")])
child = os.fork()
if child == 0:
    with open_graph(graph="of the child") as own:
        own.upsert_nodes([Node("a", "k", "a")])
        say("own", own.counts().nodes)
    uses = [graph.counts, graph.revision, graph.clear, graph.snapshot, graph.graphs, lambda: graph.cypher("RETURN 1")]
    for use in uses:
        try:
            use()
        except StorageUnavailableError as error:
            assert "fork" in str(error)
        else:
            say("not refused:", use)
    try:
        open_graph()
    except StorageBusyError:
        say("busy")
    graph.close()
    del graph, use, uses
    gc.collect()
    sys.exit(7)
say("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
graph.upsert_nodes([Node("b", "k", "b")])
say("parent", graph.counts().nodes)
"""


def test_a_forked_child_is_refused_and_ends_well(options: dict[str, Any]) -> None:
    said = run(options, FORK)
    assert said.splitlines() == ["own 1", "busy", "child 7", "parent 2"]


def test_exit_without_close_loses_nothing_and_is_no_failure(options: dict[str, Any], open_graph: Open) -> None:
    run(options, "graph = open_graph()\ngraph.upsert_nodes([Node('a', 'k', 'a')])\nreader = open_graph(read_only=True)")
    with open_graph() as graph:
        assert graph.counts().nodes == 1
