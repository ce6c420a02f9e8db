"""The knowledge base: entries, their indexes and their graph behind one object."""

from __future__ import annotations

import dataclasses
import json
import logging
import sqlite3
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import filelock
import numpy as np
from numpy.typing import NDArray

from graphport.builders import Builder, Entry, Extraction
from graphport.config import (
    Engine,
    GraphConfig,
    GraphMode,
    KnowledgeBaseConfig,
    LinkerName,
    Mode,
    check_graph,
)
from graphport.embedding import Embedder
from graphport.errors import (
    EntryNotFoundError,
    SourceError,
    StorageBusyError,
    UnsupportedError,
)
from graphport.knowledge.cooccurrence import Cooccurrence, common_entries
from graphport.knowledge.curation import Curation
from graphport.knowledge.derived import Derived, GraphPlan
from graphport.knowledge.discovery import find_proposer, propose_entities, visible_prose
from graphport.knowledge.embeddings import NONE, choose_embedder, embedder_changed
from graphport.knowledge.entities import TOPIC, Entity
from graphport.knowledge.entity_queries import EntityQueries, FoundEntity, ListedEntity
from graphport.knowledge.facts import entries_of
from graphport.knowledge.fingerprint import fingerprint
from graphport.knowledge.folders import TRUTH_FILE
from graphport.knowledge.gazetteer import Gazetteer, GazetteerRow, ImportReport
from graphport.knowledge.indexing import Indexer, IndexReport, Progress, embedded_text
from graphport.knowledge.ingest import HAND_ADDED, Ingest, Prepared, check_entry, read_entries
from graphport.knowledge.linkers import Linkers
from graphport.knowledge.mentions import link_mentions, with_all_mentions
from graphport.knowledge.rejections import reconsider_names, reject_names, rejected_names
from graphport.knowledge.reporting import report_entry, report_on
from graphport.knowledge.search import SearchOptions, search
from graphport.knowledge.truth import Truth
from graphport.knowledge.vocabulary import LiveVocabulary, Vocabulary, read_vocabulary
from graphport.model import EdgeKey, GraphCounts, check_ids, check_key, dump_props
from graphport.patterns import CO_OCCURS, Patterns
from graphport.proposals import EntityProposer, Proposal
from graphport.registry import open_backend, plugins
from graphport.retrieval.hits import Hit
from graphport.retrieval.lexical import LexicalIndex
from graphport.retrieval.linking import Linker
from graphport.retrieval.report import Report
from graphport.snapshot import GraphSnapshot, snapshot_of
from graphport.storage import GraphStorage
from graphport.traverse import check_limit

log = logging.getLogger("graphport")

REPORT = "report"


@dataclass(frozen=True, slots=True)
class Status:
    """What a knowledge base holds; ``graph`` is None where none is built."""

    name: str
    folder: Path | None
    revision: int
    documents: int
    entries: int
    vectors: int
    embedder: str | None
    backend: str | None
    graph: GraphCounts | None


class KnowledgeBase:
    """Entries with hybrid search and a graph; open it with `open_knowledge_base`.

    May be shared by threads. Every change is one transaction of the truth; the indexes follow at once,
    and whatever stops them (a server that is down) is raised after the change was kept, and healed by
    the next call.
    """

    def __init__(
        self,
        config: KnowledgeBaseConfig,
        folder: Path | None,
        *,
        embedder: str | Embedder | None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.config = config
        self.folder = folder
        self.clock = clock
        self._patterns = Patterns(config.relations.patterns) if config.relations.patterns else None
        plan = _graph_plan(config, folder, self._shared_names) if config.strategy.graph else None
        self._truth = Truth(None if folder is None else folder / TRUTH_FILE)
        self._curation = Curation(self._truth, config)
        self._derived = Derived(self._truth, folder, plan, clock)
        self._vocabulary = LiveVocabulary(self._truth, self.gazetteer, clock, self._patterns)
        self._entity_queries = EntityQueries(self._truth, self.gazetteer, self.vocabulary, clock)
        self._linkers = Linkers(folder, lambda: self._embedder, self.effective_gazetteer)
        self._index_lock = None if folder is None else filelock.FileLock(folder / "index.lock")
        try:
            stored = self._truth.meta("embedder")
            self._embedder = choose_embedder(embedder, stored, self._sample)
            self._declined = embedder is None or embedder == NONE
            self._hints_at_embedders = self._embedder is None and stored is None and not self._declined
            self._curation.note_declared()
        except BaseException:
            self.close()
            raise

    # -- changing it --------------------------------------------------------------------------------

    def index(self, paths: Iterable[str | Path], *, progress: Progress | None = None) -> IndexReport:
        """Index files and folders: what is new, changed or gone since the last time, and nothing else.

        Raises `SourceError` for a path that does not exist, before anything is changed, and
        `StorageBusyError` at once while another process indexes into this knowledge base.
        """
        sources = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
        for source in sources:
            if not source.exists():
                raise SourceError(f"{source} does not exist; give a file or a folder")
        with self._indexing():
            report = self._indexer(progress).run(sources)
            self._bring_up_to_date(progress)
        return report

    def add(self, entries: Iterable[Entry]) -> int:
        """Insert or replace entries by id, all or none, in one transaction. Returns how many."""
        batch = {entry.id: dataclasses.replace(entry, document="") for entry in map(check_entry, entries)}
        indexer = self._indexer(None)
        vectors = indexer.vectors(list(batch.values()))
        builder = plugins().builders()["entry"]
        with self._truth.write() as db:
            ingest = Ingest(db, self._truth.next_revision(), with_graph=self.config.strategy.graph)
            for entry in batch.values():
                own = {entry.id: vectors[entry.id]} if entry.id in vectors else {}
                ingest.put(Prepared(HAND_ADDED + entry.id, builder, Extraction([entry]), _digest(entry), vectors=own))
            indexer.remember_embedder(vectors)
            ingest.link_stale(self._builders())
        self._bring_up_to_date(None)
        return len(batch)

    def remove(self, ids: Iterable[str]) -> int:
        """Remove entries added by hand, or whole documents by path; absent ones are ignored. Returns how many went.

        An entry of a file cannot go alone (`UnsupportedError`): flag it, or change the file.
        """
        wanted = check_ids(ids, "entry id")
        with self._truth.write() as db:
            paths = [path for item in wanted for path in self._paths_of(db, item)]
            count = Ingest(db, self._truth.next_revision(), with_graph=self.config.strategy.graph).remove(paths)
            if self.config.strategy.graph:
                Ingest(db, self._truth.revision(), with_graph=True).link_stale(self._builders())
        self._bring_up_to_date(None)
        return count

    def flag(self, entry: str, *, flagged: bool = True) -> None:
        """Hide an entry (or show it again): it is not found, and its facts weigh nothing."""
        self._set_visibility(entry, flagged=flagged)

    def expire(self, entry: str, valid_to: float | None) -> None:
        """Let an entry be visible until ``valid_to`` (seconds since the epoch; None: for good)."""
        self._set_visibility(entry, valid_to=valid_to, change_valid_to=True)

    def rebuild(self) -> None:
        """Build every index anew from the truth."""
        self._derived.forget()
        self._bring_up_to_date(None)

    def forget_vectors(self) -> None:
        """Forget all vectors and which embedder made them; `embed_missing` makes new ones."""
        with self._truth.write() as db:
            db.execute("DELETE FROM vectors")
            db.execute("DELETE FROM meta WHERE key IN ('embedder', 'vector_width')")
            self._truth.next_revision()
        self._linkers.forget_vectors()

    def embed_missing(self, *, progress: Progress | None = None) -> int:
        """Embed the entries that have no vector. Returns how many have one now."""
        self._indexer(progress).embed_missing()
        self._bring_up_to_date(progress)
        return self.status().vectors

    # -- reading it ---------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        top_k: int | None = None,
        mode: Mode | None = None,
        graph: bool | None = None,
        graph_weight: float | None = None,
        graph_mode: GraphMode | None = None,
        damping: float | None = None,
        passage_node_weight: float | None = None,
        engine: Engine | None = None,
        max_visited: int | None = None,
        linkers: Sequence[LinkerName] | None = None,
        as_of: float | None = None,
        explain: bool = False,
    ) -> list[Hit]:
        """The ``top_k`` visible entries that answer ``query`` best, best first; scores in [0, 1].

        What is None is as the config says (`RetrievalConfig`). ``as_of`` (seconds since the epoch) asks
        what was visible then. ``explain`` fills `Hit.explanation`. Raises `InvalidQueryError` for an empty
        query or an option out of range, `UnsupportedError` for ``mode="dense"`` without an embedder.
        """
        given = {
            "top_k": top_k, "mode": mode, "graph": graph, "graph_weight": graph_weight, "graph_mode": graph_mode,
            "damping": damping, "passage_node_weight": passage_node_weight, "engine": engine,
            "max_visited": max_visited, "linkers": linkers, "as_of": as_of, "explain": explain,
        }  # fmt: skip
        return search(self, query, SearchOptions.of(self.config.retrieval, given))

    def make_report(self, query: str, budget: float = 1000, *, save: bool = False, **options: Any) -> Report:
        """A Markdown report on ``query`` from the evidence that is worth most at ``budget`` tokens.

        Each sentence names its source. ``options`` are those of `search`; of the best 40 hits, reports left
        out, `pack_evidence` chooses. ``save`` keeps the report as an entry of kind ``report``, a node with
        ``cites`` edges to what it cites.
        """
        report = report_on(self, self._truth, self._derived.dense(), query, budget, options)
        if save:
            self.add([report_entry(self._truth, report)])
        return report

    def lexical(self) -> LexicalIndex:
        """The lexical index, up to date."""
        return self._derived.lexical()

    def dense_search(self, query: str, limit: int, *, required: bool = False) -> list[tuple[str, float]] | None:
        """The entries nearest to the query as (id, cosine), best first.

        None without an embedder (said once in the log, if nobody chose that), or `UnsupportedError` if ``required``.
        """
        if self._embedder is None:
            if required:
                raise UnsupportedError("dense search needs an embedder; pip install 'graphport[embed]' or pass one")
            if self._hints_at_embedders:
                log.warning("no embedder: search is lexical only (pip install 'graphport[embed]' for the dense leg)")
                self._hints_at_embedders = False
            return None
        index = self._derived.dense()
        if index is None:
            return []
        stored = self._truth.meta("embedder") or self._embedder.identity
        if stored != self._embedder.identity:  # another process embedded everything anew
            raise embedder_changed(stored, self._embedder.identity)
        return index.search(self._embedder.query(query, index.width), limit)

    def linkers(self, names: Sequence[LinkerName], graph: GraphSnapshot | GraphStorage) -> list[Linker]:
        """The linkers of these names (``retrieval.linkers``) over ``graph``, for `graphport.retrieval.linking.link`."""
        return self._linkers.over(names, graph, self.vocabulary())

    def hidden(self, as_of: float | None = None) -> frozenset[str]:
        """Ids of the entries that are not visible now, or were not at ``as_of``."""
        now = self.clock() if as_of is None else as_of
        with self._truth.read() as db:
            rows = db.execute(
                "SELECT id FROM entries WHERE flagged UNION SELECT id FROM entries WHERE valid_to <= ?", (now,)
            )
            return frozenset(row[0] for row in rows)

    def get(self, ids: Iterable[str]) -> dict[str, Entry]:
        """The entries that exist, in the order asked, hidden ones too; an absent id is not in the dict."""
        wanted = check_ids(ids, "entry id")
        with self._truth.read() as db:
            found = read_entries(db, "entries.id IN (SELECT value FROM json_each(?))", (json.dumps(wanted),))
        by_id = {entry.id: entry for entry in found}
        return {entry: by_id[entry] for entry in wanted if entry in by_id}

    def entries(self) -> Iterator[Entry]:
        """All entries by id, hidden ones too, a page at a time."""
        last = ""
        while True:
            with self._truth.read() as db:
                page = read_entries(db, "entries.id > ? ORDER BY entries.id LIMIT 1000", (last,))
            yield from page
            if len(page) < 1000:
                return
            last = page[-1].id

    @property
    def storage(self) -> GraphStorage:
        """The graph, up to date. Raises `UnsupportedError` where ``strategy.graph`` is off."""
        self._settle()
        graph = self._derived.graph()
        if graph is None:
            raise UnsupportedError(f"knowledge base {self.config.name!r} builds no graph; set strategy.graph: true")
        return graph

    def snapshot(self, *, as_of: float | None = None) -> GraphSnapshot:
        """The graph as columns, as it is now or as it was visible at ``as_of`` (seconds since the epoch)."""
        if as_of is None:
            folder = None if self.config.graph is None else self.config.graph.snapshot_dir
            return snapshot_of(self.storage, folder=folder)
        return self._derived.graph_at(as_of, lambda db: with_all_mentions(db, 0, self._vocabulary_at(db, as_of)))

    def vocabulary(self) -> Vocabulary:
        """Every title, name and gazetteer form, with what it names."""
        return self._vocabulary()

    def _vocabulary_at(self, db: sqlite3.Connection, now: float) -> Vocabulary:
        return read_vocabulary(db, self.effective_gazetteer(), now, self._patterns)

    def _shared_names(self) -> list[tuple[str, ...]]:
        return self.vocabulary().matcher.shared_forms()

    def evidence(self, edge: EdgeKey | tuple[str, str, str]) -> list[str]:
        """Ids of the visible entries that an edge ``(source, target, kind)`` is known from, sorted.

        Of ``co_occurs``, those that mention both ends. Empty for what no entry says.
        """
        key = check_key(edge)
        self._settle()
        with self._truth.read() as db:
            if key.kind == CO_OCCURS:
                return common_entries(db, key.source, key.target, self.clock())
            return entries_of(db, key, self.clock())

    def status(self) -> Status:
        """Numbers of everything, the graph included."""
        with self._truth.read() as db:
            documents, entries, vectors = (
                db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608 - constants
                for table in ("documents", "entries", "vectors")
            )
            revision, embedder = self._truth.revision(), self._truth.meta("embedder")
            embedder = None if embedder == NONE else embedder
        graph = self._derived.graph()
        backend = self.config.graph.backend if self.config.graph and graph is not None else None
        counts = None if graph is None else graph.counts()
        return Status(self.config.name, self.folder, revision, documents, entries, vectors, embedder, backend, counts)

    # -- the gazetteer ------------------------------------------------------------------------------

    def gazetteer(self) -> Gazetteer:
        """Declared and runtime entities as they are now."""
        return self._curation.gazetteer()

    def add_entity(self, type: str, names: str | Sequence[str]) -> None:  # noqa: A002 - the field's word
        """Add an entity, or names to one; see `Gazetteer.add_entity`. The next query knows it."""
        self._curate(lambda gazetteer: gazetteer.add_entity(type, names))

    def import_entities(self, entities: Iterable[Entity]) -> ImportReport:
        """Add many entities at once, all or none; those the config declares are left as they are."""
        wanted = tuple(entities)
        report = ImportReport()

        def add(gazetteer: Gazetteer) -> Gazetteer:
            nonlocal report
            changed, report = gazetteer.add_all(wanted)
            return changed

        self._curate(add)
        return report

    def remove_entity(self, type: str, name: str) -> None:  # noqa: A002 - the field's word
        """Remove a runtime entity; see `Gazetteer.remove_entity`."""
        self._curate(lambda gazetteer: gazetteer.remove_entity(type, name))

    def _curate(self, change: Callable[[Gazetteer], Gazetteer]) -> None:
        if self._curation.change(change):
            self._bring_up_to_date(None)

    def gazetteer_listing(self) -> list[GazetteerRow]:
        """Every entity with its origin, declared or runtime."""
        return self.gazetteer().listing()

    def effective_gazetteer(self) -> tuple[Entity, ...]:
        """The entities texts are matched against, each id once; declared wins."""
        return self.gazetteer().effective

    def find_entity(self, name: str, type: str | None = None, *, limit: int | None = 100) -> FoundEntity | None:  # noqa: A002 - the field's word
        """The entity of that name or alias, whatever the case, with what mentions it; None if there is none.

        ``limit`` bounds the chapters and the texts shown (None: all). Raises `InvalidIdError` for what is no
        name, `UnsupportedError` where ``strategy.graph`` is off.
        """
        return self._entities().find(name, type, limit)

    def find_concept(self, name: str, *, limit: int | None = 100) -> FoundEntity | None:
        """`find_entity` of type ``topic``: the concepts of books, and the topics of the gazetteer."""
        return self.find_entity(name, TOPIC, limit=limit)

    def list_entities(self, type: str | None = None, *, limit: int | None = 100) -> list[ListedEntity]:  # noqa: A002 - the field's word
        """The entities of a type (None: of all) that texts mention, the most mentioned first, then by id."""
        return self._entities().listed(type, limit)

    def _entities(self) -> EntityQueries:
        if not self.config.strategy.graph:
            raise UnsupportedError(f"knowledge base {self.config.name!r} links no names; set strategy.graph: true")
        self._settle()
        return self._entity_queries

    def propose_entities(
        self, proposer: str | EntityProposer = "capitals", *, limit: int = 50, at_least: int = 2
    ) -> list[Proposal]:
        """Names in the visible prose that may be entities and that the gazetteer lacks; nothing is added.

        ``proposer`` is one that a plugin offers, by name, or your own. Of the names seen in ``at_least``
        entries or more, the ``limit`` in most entries come first; those of `reject_proposals` are left out.
        Raises `InvalidQueryError` for an unknown proposer or a number out of range; see
        `graphport.knowledge.discovery.propose_entities`.
        """
        check_limit(limit, "limit", least=1)
        check_limit(at_least, "at_least", least=1)
        gazetteer = self.gazetteer()
        return propose_entities(
            find_proposer(proposer) if isinstance(proposer, str) else proposer,
            visible_prose(self._truth, gazetteer, self.clock()),
            gazetteer,
            lambda entries: {entry.id: entry.text for entry in self.get(sorted(entries)).values()},
            limit=limit,
            at_least=at_least,
            rejected=rejected_names(self._truth),
        )

    def reject_proposals(self, names: str | Iterable[str]) -> int:
        """Never propose ``names`` again, in whatever case, whoever proposes them. Returns how many are new.

        They can be added as entities all the same. Raises `InvalidIdError` for what is no name.
        """
        return reject_names(self._truth, names)

    def reconsider_proposals(self, names: str | Iterable[str]) -> int:
        """Let ``names`` be proposed again. Returns how many had been rejected."""
        return reconsider_names(self._truth, names)

    def rejected_proposals(self) -> list[str]:
        """The names that were rejected, sorted."""
        return sorted(rejected_names(self._truth).values())

    # -- inside -------------------------------------------------------------------------------------

    def _bring_up_to_date(self, progress: Progress | None) -> None:
        """All derived indexes, in the order they need each other."""
        index = self._derived.lexical()
        if self.config.strategy.graph:
            link_mentions(self._truth, index, self.vocabulary, progress)
            self._derived.lexical()
            self._derived.graph()

    @contextmanager
    def _indexing(self) -> Generator[None]:
        """One process at a time indexes; what it has not linked yet is not ours to link meanwhile."""
        if self._index_lock is None:
            yield
            return
        try:
            with self._index_lock.acquire(timeout=0):
                yield
        except filelock.Timeout as error:
            raise StorageBusyError(f"{self.folder} is being indexed by another process; try again later") from error

    def _settle(self) -> None:
        """Before the graph is read: do what a killed process left undone, and let expired names go."""
        now = self.clock()
        with self._truth.read() as db:
            since = float(self._truth.meta("names_as_of") or 0)
            rows = db.execute("SELECT id FROM entries WHERE valid_to > ? AND valid_to <= ?", (since, now))
            expired = [row[0] for row in rows]
            stale = db.execute("SELECT EXISTS (SELECT 1 FROM stale_documents)").fetchone()[0]
            settled = not stale and self._truth.meta("mentioned") == str(self._truth.revision())
        if not expired and (settled or not self.config.strategy.graph):
            return
        try:
            with self._indexing():
                if expired:
                    with self._truth.write() as db:
                        Ingest(db, self._truth.next_revision(), with_graph=True).expired(expired)
                        self._truth.set_meta("names_as_of", repr(now))
                self._indexer(None).link()
                self._bring_up_to_date(None)
        except StorageBusyError:
            log.info("%s is being indexed: the graph is the one of before", self.folder)

    def _indexer(self, progress: Progress | None) -> Indexer:
        return Indexer(
            self._truth, self._builders(), self._embedder,
            declined=self._declined, with_graph=self.config.strategy.graph, progress=progress,
        )  # fmt: skip

    def _sample(self) -> tuple[str, NDArray[np.float32]] | None:
        """A text that has a vector, with it."""
        with self._truth.read() as db:
            row = db.execute(
                "SELECT e.id, e.text, e.title, v.vector FROM vectors v JOIN entries e ON e.id = v.entry LIMIT 1"
            ).fetchone()
        return None if row is None else (embedded_text(Entry(*row[:3])), np.frombuffer(row[3], dtype="<f4"))

    def _builders(self) -> Mapping[str, Builder]:
        return plugins().builders()

    def _paths_of(self, db: sqlite3.Connection, item: str) -> list[str]:
        row = db.execute(
            "SELECT d.path FROM entries e JOIN documents d ON d.id = e.document WHERE e.id = ?", (item,)
        ).fetchone()
        if row is None or row[0] == item:
            return [item]
        if not row[0].startswith(HAND_ADDED):
            raise UnsupportedError(f"entry {item!r:.80} is part of the file {row[0]}; flag it, or remove the file")
        return [row[0]]

    def _set_visibility(
        self, entry: str, *, flagged: bool | None = None, valid_to: float | None = None, change_valid_to: bool = False
    ) -> None:
        with self._truth.write() as db:
            row = db.execute("SELECT flagged, valid_to FROM entries WHERE id = ?", (entry,)).fetchone()
            if row is None:
                raise EntryNotFoundError(
                    f"no entry {entry!r:.80} in knowledge base {self.config.name!r}; "
                    "a hit has its entry's id (graphport search NAME QUESTION --json)"
                )
            Ingest(db, self._truth.next_revision(), with_graph=True).set_visibility(
                entry,
                flagged=bool(row[0]) if flagged is None else flagged,
                valid_to=valid_to if change_valid_to else row[1],
            )
        self._bring_up_to_date(None)

    @property
    def is_there(self) -> bool:
        """Whether its truth is still the file that was opened, and was neither deleted nor replaced."""
        return self._truth.is_there

    def close(self) -> None:
        """Close files and connections; again is harmless."""
        self._linkers.close()
        self._derived.close()
        self._truth.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _graph_plan(
    config: KnowledgeBaseConfig, folder: Path | None, shared_names: Callable[[], Iterable[Sequence[str]]]
) -> GraphPlan:
    backend, options = check_graph(config.graph or GraphConfig(), config.name, folder=folder)
    files = getattr(options, "path", None)
    factors = dict(config.relation_weights)
    limit = config.relations.co_occurs
    return GraphPlan(
        lambda: open_backend(backend, options),
        factors,
        fingerprint(
            [backend.name, options.model_dump(mode="json"), sorted(factors.items()), *([limit] if limit else [])]
        ),
        Path(files) if files else None,
        Cooccurrence(limit, shared_names).edges if limit else None,
    )


def _digest(entry: Entry) -> str:
    shown = [entry.text, entry.title, entry.kind, entry.names, dump_props(entry.meta)]
    return fingerprint(shown)
