"""Indexing files: find what changed, read, extract, embed, write, link.

Each batch of files is one transaction, so a run that is killed keeps what it did, and running it again
does the rest. Linking comes after all files are in, for names may be defined anywhere.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from graphport.builders import Builder, Document, Entry, Extraction
from graphport.errors import GraphportError, SourceError
from graphport.knowledge.embeddings import NONE, ChosenEmbedder, embedder_changed
from graphport.knowledge.files import Skipped, SourceFile, digest, find_files, read_text
from graphport.knowledge.ingest import Ingest, Prepared
from graphport.knowledge.truth import Truth

Progress = Callable[[str, int, int], None]
"""Called with a stage ("read", "link", "embed"), what is done, and the total."""

_BATCH_FILES = 64
_BATCH_ENTRIES = 400
_RACY_SECONDS = 2.0

Row = TypeVar("Row")


@dataclass(slots=True)
class IndexReport:
    """What an index run did, in documents; ``warnings`` are ``(path, message)``, each once."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    entries: int = 0
    skipped: Counter[str] = field(default_factory=Counter[str])
    skipped_examples: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    warnings: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Known:
    """What the truth knows of a file."""

    digest: str
    size: int
    mtime_ns: int
    builder: str
    version: int


class Indexer:
    """One run over some sources. ``embedder`` None indexes without vectors; ``declined``: that is to stay so."""

    def __init__(
        self,
        truth: Truth,
        builders: Mapping[str, Builder],
        embedder: ChosenEmbedder | None,
        *,
        declined: bool = False,
        with_graph: bool,
        progress: Progress | None = None,
    ) -> None:
        self._truth = truth
        self._builders = builders
        self._by_priority = sorted(builders.values(), key=lambda builder: (-builder.priority, builder.name))
        self._embedder = embedder
        self._declined = declined
        self._with_graph = with_graph
        self._progress = progress or _quiet
        self.report = IndexReport()

    def run(self, sources: Sequence[Path]) -> IndexReport:
        started = time.monotonic()
        skipped = Skipped()
        for source in sources:
            self._index_source(source, skipped)
        self.link()
        self.embed_missing()
        self.report.skipped, self.report.skipped_examples = skipped.counts, skipped.examples
        self.report.seconds = time.monotonic() - started
        return self.report

    def _index_source(self, source: Path, skipped: Skipped) -> None:
        root, scope, prefix = self._place(source)
        found = {f"{prefix}{scope}{file.path}": file for file in find_files(source, skipped)}
        known = self._known(root, f"{prefix}{scope}" if source.is_dir() else f"{prefix}{scope}{source.name}")
        gone = sorted(known.keys() - found.keys())
        if gone:
            with self._truth.write() as db:
                self.report.removed += Ingest(db, self._truth.next_revision(), with_graph=self._with_graph).remove(gone)
        batch: list[Prepared] = []
        for done, (path, file) in enumerate(found.items()):
            self._progress("read", done, len(found))
            prepared = self._prepare(path, file, known.get(path), str(root), skipped)
            if prepared is not None:
                batch.append(prepared)
            if len(batch) >= _BATCH_FILES or sum(len(item.extraction.entries) for item in batch) >= _BATCH_ENTRIES:
                self._write(batch)
                batch = []
        self._write(batch)
        self._progress("read", len(found), len(found))

    def _place(self, source: Path) -> tuple[Path, str, str]:
        """Root of the source, the way from the root to ``source``, and what the root's paths begin with.

        The first source's paths are its own; a further source's begin with its folder's name. A source
        inside one that is known is a part of it.
        """
        if not source.exists():
            raise SourceError(f"{source} does not exist; give a file or a folder")
        place = source.resolve()
        with self._truth.write():
            roots: dict[str, str] = json.loads(self._truth.meta("sources") or "{}")
            for root, prefix in roots.items():
                if place.is_relative_to(root):
                    way = place.relative_to(root) if place.is_dir() else place.relative_to(root).parent
                    return Path(root), "" if way == Path() else f"{way.as_posix()}/", prefix
            top = place if place.is_dir() else place.parent
            prefix = f"{top.name}/" if roots else ""
            while prefix and prefix in roots.values():
                prefix = f"{prefix[:-1]}+/"
            self._truth.set_meta("sources", json.dumps({**roots, str(top): prefix}))
            return top, "", prefix

    def _known(self, root: Path, beginning: str) -> dict[str, _Known]:
        with self._truth.read() as db:
            rows = db.execute(
                "SELECT path, digest, size, mtime_ns, builder, builder_version FROM documents WHERE source = ? "
                "AND substr(path, 1, ?) = ?",
                (str(root), len(beginning), beginning),
            ).fetchall()
        return {row[0]: _Known(*row[1:]) for row in rows}

    def _prepare(
        self, path: str, file: SourceFile, known: _Known | None, source: str, skipped: Skipped
    ) -> Prepared | None:
        folder = Path(source).name
        # A folder called "books" says as much when it is the source itself as below another one.
        builder = next((builder for builder in self._by_priority if builder.accepts(f"{folder}/{path}")), None)
        if builder is None:
            skipped.add("no builder", path)
            return None
        same_builder = known is not None and (known.builder, known.version) == (builder.name, builder.version)
        if known is not None and same_builder and (known.size, known.mtime_ns) == (file.size, file.mtime_ns):
            self.report.unchanged += 1
            return None
        try:
            data = file.file.read_bytes()
        except OSError:
            skipped.add("unreadable", path)
            return None
        found = digest(data)
        mtime_ns = file.mtime_ns if time.time() - file.mtime_ns / 1e9 > _RACY_SECONDS else -1
        if known is not None and same_builder and known.digest == found:
            self.report.unchanged += 1
            self._seen(path, file.size, mtime_ns)
            return None
        text = "" if path.lower().endswith((".epub", ".pdf")) else read_text(data)
        if text is None:
            skipped.add("binary", path)
            return None
        extraction = self._extract(builder, Document(path, text, data, {"folder": folder}))
        if not extraction.entries:
            skipped.add("empty", path)
        self.report.added += known is None
        self.report.changed += known is not None
        self.report.entries += len(extraction.entries)
        self.report.warnings += [(path, warning) for warning in extraction.warnings]
        return Prepared(path, builder, extraction, found, source, file.size, mtime_ns)

    def _extract(self, builder: Builder, document: Document) -> Extraction:
        try:
            return builder.extract(document)
        except GraphportError as error:
            error.add_note(f"while builder {builder.name!r} read {document.path}")
            raise

    def _seen(self, path: str, size: int, mtime_ns: int) -> None:
        with self._truth.write() as db:
            db.execute("UPDATE documents SET size = ?, mtime_ns = ? WHERE path = ?", (size, mtime_ns, path))

    def _write(self, batch: list[Prepared]) -> None:
        if not batch:
            return
        entries = [entry for prepared in batch for entry in prepared.extraction.entries]
        vectors = self.vectors(entries)
        with self._truth.write() as db:
            ingest = Ingest(db, self._truth.next_revision(), with_graph=self._with_graph)
            for prepared in batch:
                ingest.put(_with_vectors(prepared, vectors))
            self.remember_embedder(vectors)

    def vectors(self, entries: Sequence[Entry]) -> dict[str, NDArray[np.float32]]:
        """Vectors of entries; one whose text is in the truth already is not computed again."""
        if self._embedder is None:
            return {}
        wanted = {entry.id: embedded_text(entry) for entry in entries}
        with self._truth.read() as db:
            old = db.execute(
                "SELECT e.title, e.text, v.entry, v.vector FROM json_each(?) j JOIN entries e ON e.id = j.value "
                "JOIN vectors v ON v.entry = e.id",
                (json.dumps(list(wanted)),),
            ).fetchall()
            width = int(self._truth.meta("vector_width") or 0) or None
        kept = {
            row[2]: np.frombuffer(row[3], dtype="<f4")
            for row in old
            if wanted[row[2]] == (f"{row[0]}\n{row[1]}" if row[0] else row[1])
        }
        missing = [entry for entry in wanted if entry not in kept]
        computed = self._embedder.vectors([wanted[entry] for entry in missing], width)
        return {**kept, **dict(zip(missing, computed, strict=True))}

    def remember_embedder(self, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Store, with the first vectors, what made them, or that there shall be none.

        Raises `ConfigError` if another process embedded everything with another one meanwhile.
        """
        stored = self._truth.meta("embedder")
        if stored is None and self._embedder is None and self._declined:
            self._truth.set_meta("embedder", NONE)
        elif self._embedder is not None and vectors:
            if stored is None:
                self._truth.set_meta("embedder", self._embedder.identity)
                self._truth.set_meta("vector_width", str(len(next(iter(vectors.values())))))
            elif stored != self._embedder.identity:
                raise embedder_changed(stored, self._embedder.identity)

    def link(self) -> None:
        """Link every document that is new or stale."""
        if not self._with_graph:
            return
        total = left = self._stale()
        while left:
            self._progress("link", total - left, total)
            with self._truth.write() as db:
                ingest = Ingest(db, self._truth.next_revision(), with_graph=True)
                left = ingest.link_stale(self._builders, limit=200)
        if total:
            self._progress("link", total, total)

    def embed_missing(self) -> None:
        """Embed entries that have no vector, as after an index run without an embedder."""
        if self._embedder is None:
            self.remember_embedder({})
            return
        with self._truth.read() as db:
            entries, vectors = (
                db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608 - constants
                for table in ("entries", "vectors")
            )
            if vectors == entries:
                return
            rows = db.execute(
                "SELECT e.id, e.title, e.text FROM entries e LEFT JOIN vectors v ON v.entry = e.id "
                "WHERE v.entry IS NULL ORDER BY e.id"
            ).fetchall()
        for batch in _batches(rows, _BATCH_ENTRIES):
            vectors = self.vectors([Entry(row[0], row[2], row[1]) for row in batch])
            with self._truth.write() as db:
                ingest = Ingest(db, self._truth.next_revision(), with_graph=self._with_graph)
                for entry, vector in vectors.items():
                    ingest.put_vector(entry, vector)
                self.remember_embedder(vectors)

    def _stale(self) -> int:
        with self._truth.read() as db:
            return int(db.execute("SELECT count(*) FROM stale_documents").fetchone()[0])


def _quiet(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


def embedded_text(entry: Entry) -> str:
    """The text an entry is embedded and searched by: its title, then its text."""
    return f"{entry.title}\n{entry.text}" if entry.title else entry.text


def _with_vectors(prepared: Prepared, vectors: Mapping[str, NDArray[np.float32]]) -> Prepared:
    own = {entry.id: vectors[entry.id] for entry in prepared.extraction.entries if entry.id in vectors}
    return Prepared(
        prepared.path, prepared.builder, prepared.extraction, prepared.digest, prepared.source, prepared.size,
        prepared.mtime_ns, own,
    )  # fmt: skip


def _batches(items: Iterable[Row], size: int) -> Iterator[list[Row]]:
    batch: list[Row] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
