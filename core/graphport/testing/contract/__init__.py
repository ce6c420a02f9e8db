"""The promises of `graphport.storage.GraphStorage` as tests, for any backend."""

from __future__ import annotations

from graphport.testing.contract.changes import ChangePromises
from graphport.testing.contract.deletes import DeletePromises
from graphport.testing.contract.engine import EnginePromises
from graphport.testing.contract.handles import HandlePromises
from graphport.testing.contract.isolation import IsolationPromises
from graphport.testing.contract.reads import ReadPromises
from graphport.testing.contract.refusals import RefusalPromises
from graphport.testing.contract.revisions import RevisionPromises
from graphport.testing.contract.rows import RowPromises
from graphport.testing.contract.snapshots import SnapshotPromises
from graphport.testing.contract.stateful import StatefulPromises
from graphport.testing.contract.transactions import TransactionPromises
from graphport.testing.contract.walks import WalkPromises


# pytest runs the tests of the last base first: rows before all that is made of them, the long random test at the end.
class GraphStorageContract(
    StatefulPromises,
    EnginePromises,
    HandlePromises,
    IsolationPromises,
    WalkPromises,
    ChangePromises,
    SnapshotPromises,
    RevisionPromises,
    TransactionPromises,
    ReadPromises,
    DeletePromises,
    RefusalPromises,
    RowPromises,
):
    """Every promise of `GraphStorage`, as pytest tests. A subclass is a backend's whole test file::

        class TestMyStore(GraphStorageContract):
            backend = MYSTORE                                   # as the plugin declares it
            capabilities = frozenset({Capability.PERSISTENT})   # all it declares, and no other

            @pytest.fixture
            def options(self, tmp_path):                        # names one fresh store
                return {"path": tmp_path / "graph.my"}

            @pytest.fixture
            def peek(self):                                     # storage -> Rows(nodes, edges)
                return lambda storage: my_engine.read_all(storage.path, storage.graph)

            @pytest.fixture
            def poke(self):                                     # (storage, nodes, edges) -> into the engine
                return lambda storage, nodes, edges: my_engine.insert(storage.path, storage.graph, nodes, edges)

            @pytest.fixture
            def round_trips(self):                              # storage -> context that counts requests
                return my_engine.count_requests

    ``backend``
        The `Backend`. The tests open handles through `graphport.open_storage`, with ``options`` and what
        they add: ``graph=``, ``read_only=`` and those of ``impatient``. ``backend.open`` and the options
        model must be importable (module-level): other processes get them by name.
    ``capabilities``
        A declared capability must behave and an undeclared one must refuse; no test is skipped. Without
        `Capability.PERSISTENT` each handle is a universe of its own, and ends with it.
    ``known_gaps``
        ``{"test_an_edge_to_itself": "kuzu 0.11 drops self-loops, #12"}``: tests that fail for a reason
        that is not ours. They are strict expected failures, so an entry turns red when its test passes.
        No contract test can be overridden.
    ``options`` (fixture)
        The options that name one store. Fresh for each test; several handles are opened onto it.
    ``impatient`` (fixture)
        Options of a handle that waits only a moment for a lock; ``{"busy_timeout": 0.2}``.
    ``peek``, ``poke`` (fixtures)
        Read and write the engine of an open handle by none of its methods, so that a backend cannot pass
        by being consistently wrong. Rows are written to be seen by the handle's next call.
    ``round_trips`` (fixture)
        A context manager over a handle that counts the requests to the engine in its `RoundTrips`;
        ``lambda storage: nullcontext(RoundTrips())`` where there is no engine to ask.
    """
