"""Committing a coalesced batch: by statements in the log, or as a new generation where that is less work."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from graphport.errors import MissingNodeError, StorageError
from graphport.model import EdgeKey
from graphport.pending import PendingWrites
from graphport_kuzu import durable, reads
from graphport_kuzu.arrow import Table, pa
from graphport_kuzu.columns import Columns, read_columns
from graphport_kuzu.engine import Engine
from graphport_kuzu.rows import edge_table, key_table, node_table
from graphport_kuzu.session import Parameters, Session

log = logging.getLogger("graphport")

MANY = 10_000
"""Batches below this are never worth a new generation."""
LOG_ROW = 1024
"""Bytes a row takes in the log besides its text, amply (measured: 600)."""
STATEMENT_ROWS = 100_000
"""Rows of one statement: what it joins must fit into the buffer pool."""

DELETE_EDGES = (
    "LOAD FROM $t MATCH (a:Node {id: source}) MATCH (b:Node {id: target}) "
    "OPTIONAL MATCH (a)-[e:Edge {kind: kind}]->(b) DELETE e"
)
DELETE_NODES = (
    "UNWIND $ids AS i MATCH (n:Node {id: i})-[e:Edge]->(:Node) DELETE e",
    "UNWIND $ids AS i MATCH (n:Node {id: i})<-[e:Edge]-(:Node) DELETE e",
    "UNWIND $ids AS i MATCH (n:Node {id: i}) DELETE n",
)
UPSERT_NODES = "LOAD FROM $t MERGE (n:Node {id: id}) SET n.kind = kind, n.name = name, n.entry = entry, n.props = props"
UPSERT_EDGES = (
    "LOAD FROM $t MATCH (a:Node {id: source}) MATCH (b:Node {id: target}) "
    "MERGE (a)-[e:Edge {kind: kind}]->(b) SET e.weight = weight, e.props = props"
)


def commit(engine: Engine, pending: PendingWrites) -> None:
    """Commits ``pending`` whole, or raises and leaves nothing of it. The caller holds `Engine.writing`."""
    if pending.cleared or not engine.exists:
        engine.replace(*Columns.empty().merged(pending).tables())
    elif _outweighs(engine, pending):
        with engine.reading() as session:
            columns = read_columns(session, props=True)
        engine.replace(*columns.merged(pending).tables())
    else:
        _run(engine, pending)
    engine.feed.add(engine.revision(), pending)
    if engine.needs_compaction:
        _compact(engine)


def _statements(pending: PendingWrites) -> Iterator[tuple[str, Parameters]]:
    """The batch as statements, in the one order that both engines get right.

    A transaction must not delete what it inserted (kuzu keeps phantom edges), hence a coalesced batch,
    deletes first. A node's edges are deleted explicitly, both ways: kuzu's DETACH DELETE leaves some. Rows
    come as typed Arrow tables with unique keys: lists of dicts are bound by position, and which of two
    equal keys wins is undefined.
    """
    for keys in _parts(key_table(pending.deleted_edges)):
        yield DELETE_EDGES, {"t": keys}
    if pending.deleted_nodes:
        for statement in DELETE_NODES:
            yield statement, {"ids": list(pending.deleted_nodes)}
    for nodes in _parts(node_table(pending.nodes.values())):
        yield UPSERT_NODES, {"t": nodes}
    for edges in _parts(edge_table(pending.edges.values())):
        yield UPSERT_EDGES, {"t": edges}


def _run(engine: Engine, pending: PendingWrites) -> None:
    statements = list(_statements(pending))
    text = sum(parameters["t"].nbytes for _, parameters in statements if "t" in parameters)
    durable.require_room(engine.folder, LOG_ROW * len(pending) + 2 * text)

    def apply(session: Session) -> None:
        for statement, parameters in statements:
            session.run(statement, parameters)

    engine.transaction(apply)


def _parts(table: Table) -> Iterable[Table]:
    return (table.slice(first, STATEMENT_ROWS) for first in range(0, len(table), STATEMENT_ROWS))


def _outweighs(engine: Engine, pending: PendingWrites) -> bool:
    """Whether merging the batch into a copy of the graph is less work than statements.

    A row costs 12 us as a statement, and its log a compaction later, and 3.5 us each time it is copied.
    """
    if len(pending) < MANY:
        return False
    with engine.reading() as session:
        counts = reads.counts(session)
    return 4 * len(pending) > counts.nodes + counts.edges


def _compact(engine: Engine) -> None:
    """Makes the log short again. The commit that made it long is done, so that this may fail, and is tried again."""
    try:
        with engine.reading() as session:
            columns = read_columns(session, props=True)
        engine.compact(*columns.tables())
    except (StorageError, pa.ArrowException) as error:
        engine.postpone_compaction()
        log.warning("%s was not compacted, and opens slowly until it is: %s", engine.folder, error)


def require_ends(session: Session, pending: PendingWrites, keys: Iterable[EdgeKey]) -> None:
    """`MissingNodeError` unless both ends of each key are in the graph as ``pending`` leaves it.

    The engine would leave such an edge out and say nothing.
    """
    ends = dict.fromkeys(end for key in keys for end in (key.source, key.target))
    asked = [end for end in ends if not pending.hides_node(end)]
    there = reads.existing(session, asked)
    missing = tuple(end for end in ends if end not in there and end not in pending.nodes)
    if missing:
        shown = ", ".join(f"{node_id!r:.80}" for node_id in missing[:10])
        raise MissingNodeError(f"edges end in {len(missing)} absent nodes: {shown}; insert them first", missing)
