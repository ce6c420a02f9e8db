"""The schema ``graphport``: names of any text, one format, drops and opens by several handles at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from postgres_engine import Engine

from graphport import Edge, Node
from graphport.errors import StorageCorruptError, StorageUnavailableError
from graphport_postgres.diagnose import diagnose
from graphport_postgres.layout import index_form, space_name


def test_a_graph_name_becomes_a_readable_name_that_every_engine_takes() -> None:
    assert space_name("gpa", "My Notes").startswith("gpa_my_notes_")
    names = ["notes", "Notes", "nötes", "n" * 500, "n" * 501, "'; DROP SCHEMA x; --", "名前", "gpa_notes", "-"]
    spaces = [space_name("gpa", name) for name in names]
    assert len(set(spaces)) == len(names)
    assert all(len(space) <= 62 and space.replace("_", "a").isalnum() and space.isascii() for space in spaces)


def test_what_an_index_cannot_hold_is_indexed_by_its_digest() -> None:
    long = "x" * 1001
    forms = [index_form(text) for text in ("", "x", "x" * 1000, long, index_form(long), "é" * 501, "é" * 500)]
    assert forms[:3] == ["", "x", "x" * 1000]
    assert forms[6] == "é" * 500
    assert len(set(forms)) == len(forms)
    assert all(len(form.encode()) <= 1000 for form in forms)


def test_the_catalog_names_the_graph_that_other_tools_see(engine: Engine) -> None:
    storage = engine.open(graph="my graph")
    found = engine.admin().execute("SELECT backend, name, space FROM graphport.graphs").fetchall()
    assert found == [(engine.backend.name, "my graph", storage.space)]


def test_graphs_of_age_and_of_plain_tables_live_in_one_database(engine: Engine, tables: Engine) -> None:
    first = engine.open(graph="same name")
    second = Engine(tables.backend, engine.dsn, engine.stack).open(graph="same name ")
    first.upsert_nodes([Node("a", "k", "first")])
    second.upsert_nodes([Node("a", "k", "second")])
    assert first.get_nodes(["a"])["a"].name == "first"
    assert second.get_nodes(["a"])["a"].name == "second"
    assert ("same name " in first.graphs()) == (engine.backend.name == tables.backend.name)


def test_a_newer_format_is_refused_and_left_alone(engine: Engine) -> None:
    engine.open().close()
    engine.admin().execute("UPDATE graphport.format SET version = 7")
    for read_only in (False, True):
        with pytest.raises(StorageUnavailableError, match=r"format 7, this graphport reads 2; use the version"):
            engine.open(read_only=read_only)
    assert ("graphs", False) in [check[:2] for check in diagnose(engine.dsn, backend=engine.backend.name)]


def test_a_database_without_graphs_cannot_be_opened_read_only(tables: Engine) -> None:
    with pytest.raises(StorageUnavailableError, match="no graphs yet"):
        tables.open(read_only=True)
    assert tables.admin().execute("SELECT to_regnamespace('graphport')").fetchone() == (None,)


def test_a_graph_nobody_made_reads_as_empty_where_nothing_may_be_made(engine: Engine) -> None:
    engine.open().close()
    reader = engine.open(graph="never made", read_only=True)
    assert reader.counts().nodes == reader.revision() == 0
    assert list(reader.iter_edges()) == []
    assert reader.snapshot().ids == ()
    assert reader.neighborhood(["a"]).nodes == ()
    assert reader.graphs() == ["graph"]


def test_a_graph_dropped_by_another_handle_is_empty_and_made_again_by_the_next_write(engine: Engine) -> None:
    mine, other = engine.open(), engine.open(graph="other")
    mine.upsert_nodes([Node("a", "k", "a")])
    seen = mine.revision()
    half_read = mine.iter_nodes()
    assert other.drop_graph("graph")
    assert list(half_read) == []
    assert mine.counts().nodes == 0
    assert mine.revision() > seen
    with mine.transaction():
        mine.upsert_nodes([Node("b", "k", "b")])
        mine.upsert_edges([Edge("b", "b", "e")])
    assert mine.snapshot().ids == ("b",)
    assert other.graphs() == ["graph", "other"]


def test_a_dropped_graph_never_shows_an_old_revision_again(engine: Engine) -> None:
    storage = engine.open()
    seen = {storage.revision()}
    for _ in range(3):
        storage.upsert_nodes([Node("a", "k", "a")])
        assert storage.revision() not in seen
        seen.add(storage.revision())
        storage.drop_graph("graph")


def test_many_that_open_a_new_graph_at_once_make_it_once(engine: Engine) -> None:
    with ThreadPoolExecutor(8) as pool:
        handles = list(pool.map(lambda number: engine.open(graph="new", pool_max=1 + number % 2), range(8)))
    for number, handle in enumerate(handles):
        handle.upsert_nodes([Node(f"{number}", "k", "n")])
    assert handles[0].counts().nodes == 8
    assert handles[0].graphs() == ["new"]


def test_two_names_in_one_place_are_told_apart(tables: Engine) -> None:
    storage = tables.open(graph="a")
    tables.admin().execute("UPDATE graphport.graphs SET name = 'b'")
    storage.close()
    with pytest.raises(StorageCorruptError, match="'a' would lie where 'b' is"):
        tables.open(graph="a")


def test_a_handle_says_what_it_is(tables: Engine) -> None:
    assert repr(tables.open()) == "PostgresStorage(backend='postgres', graph='graph')"


def test_a_dropped_graph_is_read_without_a_word_in_the_log(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    storage = engine.open(graph="dropped")
    for _ in range(3):
        storage.upsert_nodes([Node("a", "k", "a")])
        storage.upsert_edges([Edge("a", "a", "e")])
        engine.open().drop_graph("dropped")
        assert (storage.counts().nodes, storage.get_nodes(["a"]), storage.graphs()) == (0, {}, ["graph"])
        assert ([*storage.iter_nodes()], storage.snapshot().ids, storage.neighborhood(["a"]).nodes) == ([], (), ())
    assert [record.getMessage() for record in caplog.records] == []
