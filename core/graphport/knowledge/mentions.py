"""Mentions: which names stand in which texts.

The mentions of an entry are a function of its text and all names together (the longest name wins a span),
so a name that comes or goes makes exactly the texts that may hold it be searched again.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from graphport.builders import Fact, Links, NodeFact
from graphport.knowledge.indexing import Progress
from graphport.knowledge.ingest import Ingest
from graphport.knowledge.relations import OWNER as RELATIONS
from graphport.knowledge.relations import relations_of
from graphport.knowledge.searched import ChapterOf, searched
from graphport.knowledge.truth import Truth
from graphport.knowledge.vocabulary import ENTITY, PHRASE, Named, Vocabulary
from graphport.matching import fold
from graphport.retrieval.lexical import LexicalIndex
from graphport.retrieval.names import is_mention, phrase_id, proper_names

OWNER = "mentions"
PROSE = frozenset({"passage", "section", "chapter"})
"""Kinds of entries whose capitals are those of names."""
_BATCH = 500
_ALL_AGAIN = 0.1
"""Above this share of changed names, searching every text once is cheaper than asking for each name."""


def link_mentions(
    truth: Truth,
    lexical: LexicalIndex,
    vocabulary: Callable[[], Vocabulary],
    progress: Progress | None = None,
) -> None:
    """Bring the mention facts up to date with texts and names; cheap when nothing changed.

    ``lexical`` may lag behind by what others wrote meanwhile: that is among the changed entries anyway.
    """
    if truth.meta("mentioned") == str(truth.revision()):
        return
    with truth.write() as db:
        todo, stale = _outdated(db, truth, lexical)
        if not todo and not stale:
            truth.set_meta("mentioned", str(truth.revision()))
            return
        revision = truth.next_revision()
        _replace_mentions(db, revision, todo, vocabulary(), progress)
        db.execute("DELETE FROM stale_forms")
        truth.set_meta("mentioned", str(revision))


def forget_relations(db: sqlite3.Connection, truth: Truth, *, search_again: bool) -> None:
    """Drop what other templates found; ``search_again``: the next `link_mentions` searches every text."""
    entries = [row[0] for row in db.execute("SELECT DISTINCT entry FROM facts WHERE owner = ?", (RELATIONS,))]
    Ingest(db, truth.next_revision(), with_graph=True).replace_facts(entries, RELATIONS, Links())
    if search_again:
        truth.set_meta("mentioned", "-1")


def with_all_mentions(db: sqlite3.Connection, revision: int, vocabulary: Vocabulary) -> None:
    """Find the mentions of every text anew, with other names than today's."""
    every = [row[0] for row in db.execute("SELECT id FROM entries ORDER BY id")]
    _replace_mentions(db, revision, every, vocabulary, None)


def _replace_mentions(
    db: sqlite3.Connection, revision: int, entries: Sequence[str], vocabulary: Vocabulary, progress: Progress | None
) -> None:
    ingest = Ingest(db, revision, with_graph=True)
    for start in range(0, len(entries), _BATCH):
        batch = entries[start : start + _BATCH]
        ingest.replace_facts(batch, OWNER, mentions_of(db, batch, vocabulary))
        if vocabulary.patterns is not None:
            stated = relations_of(db, batch, vocabulary.patterns, vocabulary.matcher, vocabulary.type_of)
            ingest.replace_facts(batch, RELATIONS, stated)
        if progress is not None:
            progress("mentions", min(start + _BATCH, len(entries)), len(entries))


def _outdated(db: sqlite3.Connection, truth: Truth, lexical: LexicalIndex) -> tuple[list[str], list[str]]:
    """Entries whose mentions may have changed, and the names that came or went."""
    done = int(truth.meta("mentioned") or 0)
    stale = [row[0] for row in db.execute("SELECT form FROM stale_forms ORDER BY form")]
    if done < int(truth.meta("pruned") or 0) or _is_a_large_share(db, len(stale)):
        return [row[0] for row in db.execute("SELECT id FROM entries ORDER BY id")], stale
    rows = db.execute("SELECT key FROM changes WHERE what = 'entry' AND revision > ?", (done,))
    changed = {row[0] for row in rows}
    for form in stale:
        changed.update(lexical.containing(form))
        changed.update(row[0] for row in db.execute("SELECT entry FROM forms WHERE folded = ?", (fold(form),)))
    return sorted(changed), stale


def _is_a_large_share(db: sqlite3.Connection, names: int) -> bool:
    return names > 20 and names > _ALL_AGAIN * db.execute("SELECT count(*) FROM entries").fetchone()[0]


def mentions_of(db: sqlite3.Connection, entries: Sequence[str], vocabulary: Vocabulary) -> Links:
    """What the texts of some entries mention, and what names the entries themselves go by.

    ``entry -mentions-> thing`` weighs the number of times; ``entry -titled-> thing`` is a name of its own.
    In prose a proper name is a thing too, whether or not anything goes by it. A book's chapter mentions the
    entities that its heading and its passages do.
    """
    nodes: list[NodeFact] = []
    facts: list[Fact] = []
    for item in searched(db, entries):
        own = [row[0] for row in db.execute("SELECT form FROM forms WHERE entry = ? ORDER BY form", (item.entry,))]
        titled = {thing for form in own for thing in _named_exactly(form, vocabulary)}
        found = mentions_in(item.whole, vocabulary, prose=item.kind in PROSE)
        known = {thing: vocabulary.thing(thing) for thing in titled} | {
            thing: named for thing, (_, named) in found.items()
        }
        facts += [Fact(item.node, "titled", thing, item.entry) for thing in sorted(titled)]
        facts += [
            Fact(item.node, "mentions", thing, item.entry, weight=float(found[thing][0]))
            for thing in sorted(found.keys() - titled)
        ]
        for chapter in item.chapters:
            times, in_heading = _mentions_of_chapter(chapter, found, vocabulary)
            known |= in_heading
            facts += [
                Fact(chapter.node, "mentions", thing, item.entry, weight=float(times[thing])) for thing in sorted(times)
            ]
        for thing in sorted(known):
            props = {"type": known[thing].type} if known[thing].type else {}
            nodes.append(NodeFact(thing, known[thing].kind, known[thing].name, item.entry, props=props))
    return Links(nodes, facts)


def _mentions_of_chapter(
    chapter: ChapterOf, found: Mapping[str, tuple[int, Named]], vocabulary: Vocabulary
) -> tuple[Counter[str], dict[str, Named]]:
    """What one entry brings to its chapter: how often it mentions each entity, and the entities of the heading."""
    heading = mentions_in(chapter.heading, vocabulary, prose=False) if chapter.heading else {}
    times: Counter[str] = Counter()
    for part in (found, heading):
        times.update({thing: count for thing, (count, named) in part.items() if named.kind == ENTITY})
    return times, {thing: named for thing, (_, named) in heading.items() if named.kind == ENTITY}


def mentions_in(text: str, vocabulary: Vocabulary, *, prose: bool) -> dict[str, tuple[int, Named]]:
    """How often ``text`` mentions each thing, by node id."""
    found: list[Named] = []
    spans: list[tuple[int, int]] = []
    for match in vocabulary.matcher.find(text):
        spans.append((match.start, match.end))
        written = text[match.start : match.end]
        things = [vocabulary.thing(item) for item in match.ids]
        found += [thing for thing in things if thing.kind != PHRASE or is_mention(written, thing.name)]
    for name in proper_names(text) if prose else ():
        if not any(start <= name.start and name.end <= end for start, end in spans):
            written = text[name.start : name.end]
            found.append(Named(phrase_id(written), PHRASE, written))
    times = Counter(thing.id for thing in found)
    return {thing.id: (times[thing.id], thing) for thing in reversed(found)}


def _named_exactly(form: str, vocabulary: Vocabulary) -> set[str]:
    """Things whose name is the whole of ``form``."""
    matches = vocabulary.matcher.find(form)
    whole = fold(form)
    return {thing for match in matches if fold(form[match.start : match.end]) == whole for thing in match.ids}
