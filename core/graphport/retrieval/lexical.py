"""The lexical leg: BM25 by tantivy."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import tantivy

from graphport.errors import StorageBusyError, StorageCorruptError, StorageError

ANALYZER = "graphport_en"
FORMAT = 1
"""Raised when fields or analysis change: an index of another format is rebuilt."""
_WRITER_HEAP = 64_000_000
_MAX_TOKEN = 200
_IDENTIFIER = re.compile(
    r"\b(?:[A-Za-z0-9]*_[A-Za-z0-9_]*|[a-z0-9]+[A-Z][A-Za-z0-9]*|[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+)"
)
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# The words a question is made of. As terms they rank nothing and cost most of a query's time; a query
# of nothing else keeps them.
_STOP_WORDS = frozenset(
    "a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it "
    "its itself me my no nor not of on or our she so some such than that the their them then there these they this "
    "those to too was we were what when where which while who whom whose why will with would you your s t".split()
)


def _analyzer() -> tantivy.TextAnalyzer:
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(_MAX_TOKEN))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("body", tokenizer_name=ANALYZER)
    return builder.build()


class LexicalIndex:
    """A BM25 index (k1 = 1.2, b = 0.75) of entries by id; in a folder, or in memory without one.

    ``revision`` is the one the index was last committed at: it is written after the commit, so a process
    killed in between does the same work again, which changes nothing.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._schema = _schema()
        self._tokens = _analyzer()
        self._memory_revision = 0
        self._stamp_file = None if folder is None else folder / "graphport.json"
        self._read: tuple[tuple[int, int, int] | None, tuple[int, int]] = (None, (0, 0))
        try:
            if folder is None:
                self._index = tantivy.Index(self._schema)
            else:
                folder.mkdir(parents=True, exist_ok=True)
                self._index = tantivy.Index(self._schema, path=str(folder))
            self._index.register_tokenizer(ANALYZER, _analyzer())
            self._index.reload()
        except (ValueError, OSError) as error:
            raise StorageCorruptError(f"lexical index {folder} cannot be opened: {error}; delete the folder") from error
        self._seen = self._stamp()

    @property
    def revision(self) -> int:
        """Revision of the truth that the index holds; 0 for a new index."""
        return self._stamp()[0]

    @property
    def is_there(self) -> bool:
        """Whether the files are still where they were opened; what is written to deleted ones is lost."""
        return self._folder is None or (self._folder / "meta.json").exists()

    @property
    def count(self) -> int:
        return int(self._index.searcher().num_docs)

    def refresh(self) -> None:
        """See what another process committed."""
        stamp = self._stamp()
        if stamp != self._seen:
            self._index.reload()
            self._seen = stamp

    def apply(self, revision: int, changed: Iterable[tuple[str, str]], removed: Iterable[str]) -> None:
        """Insert or replace ``(id, text)``, remove ids, and stamp the index with ``revision``."""
        try:
            writer = self._index.writer(_WRITER_HEAP, 1)
        except ValueError as error:
            raise _write_error(error, self._folder) from error
        try:
            for entry in removed:
                writer.delete_documents_by_term("id", entry)
            for entry, text in changed:
                writer.delete_documents_by_term("id", entry)
                writer.add_document(tantivy.Document(id=entry, body=searchable(text)))
            writer.commit()
            writer.wait_merging_threads()
        except ValueError as error:
            raise _write_error(error, self._folder) from error
        self._index.reload()
        self._write_stamp(revision)

    def keep(self, revision: int) -> None:
        """Stamp the index, in which nothing changed up to ``revision``."""
        self.refresh()
        self._write_stamp(revision)

    def search(self, query: str, limit: int) -> list[tuple[str, float]]:
        """The ``limit`` best entries for any of the query's words, as (id, BM25 score); ties by id.

        Any text is a query: nothing in it is syntax.
        """
        terms = self.terms(query)
        if not terms or limit <= 0:
            return []
        return self._run([(tantivy.Occur.Should, self._term(term)) for term in terms], limit)

    def containing(self, words: str) -> list[str]:
        """Ids of all entries that hold every word of ``words`` (stemmed, so a superset of exact containment)."""
        terms = list(dict.fromkeys(self._tokens.analyze(words)))
        if not terms:
            return []
        return [entry for entry, _ in self._run([(tantivy.Occur.Must, self._term(term)) for term in terms], self.count)]

    def terms(self, query: str) -> list[str]:
        """Index terms of a query, each once; stop words left out unless there is nothing else."""
        words = re.findall(r"\w+", searchable(query))
        kept = [word for word in words if word.lower() not in _STOP_WORDS] or words
        return list(dict.fromkeys(term for word in kept for term in self._tokens.analyze(word)))

    def _term(self, term: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, "body", term, "freq")

    def _run(self, parts: list[tuple[tantivy.Occur, tantivy.Query]], limit: int) -> list[tuple[str, float]]:
        searcher = self._index.searcher()
        # Ties at the cut are broken by id, not by where a document happens to lie: look a little further.
        reach = min(limit + 50, max(int(searcher.num_docs), 1))
        result = searcher.search(tantivy.Query.boolean_query(parts), reach, count=False)
        found = [(str(searcher.doc(address)["id"][0]), float(score)) for score, address in result.hits]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]

    def ids(self) -> Iterator[str]:
        """Ids of all entries in the index."""
        searcher = self._index.searcher()
        if searcher.num_docs:
            for _, address in searcher.search(tantivy.Query.all_query(), searcher.num_docs, count=False).hits:
                yield str(searcher.doc(address)["id"][0])

    def _stamp(self) -> tuple[int, int]:
        """Revision and number of the last commit, whoever made it; the file is read only when it is another one."""
        if self._stamp_file is None:
            return self._memory_revision, 0
        try:
            status = self._stamp_file.stat()
        except FileNotFoundError:
            return 0, 0
        # Each stamp is a new file. One that looks like the last can only be taken for an earlier revision, and
        # what changed since is then taken in once more.
        file = (status.st_ino, status.st_mtime_ns, status.st_size)
        if self._read[0] != file:
            self._read = (file, _read_stamp(self._stamp_file))
        return self._read[1]

    def _write_stamp(self, revision: int) -> None:
        if self._stamp_file is None:
            self._memory_revision = revision
            return
        self._seen = (revision, self._stamp()[1] + 1)
        fresh = self._stamp_file.with_name("graphport.json.tmp")
        fresh.write_text(json.dumps({"format": FORMAT, "revision": revision, "commit": self._seen[1]}), "utf-8")
        fresh.replace(self._stamp_file)


def _read_stamp(file: Path) -> tuple[int, int]:
    try:
        found = json.loads(file.read_text("utf-8"))
        return (int(found["revision"]), int(found["commit"])) if found["format"] == FORMAT else (0, 0)
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return 0, 0


def remove_lexical_index(folder: Path) -> None:
    """Delete the index in ``folder``; it is derived, so it can be built again."""
    shutil.rmtree(folder, ignore_errors=True)


def searchable(text: str) -> str:
    """``text`` with the parts of its identifiers beside them: ``parse_date`` is found by "date" too."""
    parts = [part for name in _IDENTIFIER.findall(text) for part in _CAMEL.findall(name) if part != name]
    return f"{text}\n{' '.join(parts)}" if parts else text


def _write_error(error: ValueError, folder: Path | None) -> StorageError:
    if "lock" in str(error).lower():
        return StorageBusyError(f"lexical index {folder} is being written by another process; try again")
    return StorageCorruptError(f"lexical index {folder} cannot be written: {error}; delete the folder to rebuild it")
