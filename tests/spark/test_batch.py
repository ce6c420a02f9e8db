"""Many seed sets at once in this process, and graphs as folders of Parquet files. No Java here."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq  # type: ignore[import-untyped]  # pyarrow ships no types
import pytest
from click.testing import CliRunner

from graphport import Edge, GraphStorage, Node, open_storage, personalized_pagerank
from graphport import parquet as export
from graphport.batch import Ranking, SeedSet, read_seed_sets
from graphport.cli.main import main
from graphport.errors import GraphportError, InvalidInputError, StorageBusyError, StorageCorruptError
from graphport.registry import plugins

IDS = ["", "a'b", "e\u0301", "\u00e9", "😀", "\uff5e", "new\nline", "tail"]


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[GraphStorage]:
    """A path through odd ids (the first of them set apart), a self-loop and two parallel edges."""
    names = IDS[1:]
    storage = open_storage("memory", path=tmp_path / "graph.db")
    storage.upsert_nodes([Node(name, "odd", name, entry="e1" if name == "tail" else None) for name in names])
    storage.upsert_nodes([Node("alone", "even", "Alone", props={"since": [1, None]})])
    storage.upsert_edges([Edge(a, b, "next", 1.5) for a, b in pairwise(names)])
    storage.upsert_edges([Edge("tail", "tail", "loop"), Edge("😀", "tail", "also", 5e-324, props={"why": "é"})])
    yield storage
    storage.close()


@pytest.fixture
def store(graph: GraphStorage, tmp_path: Path) -> str:
    graph.close()
    return f"memory {{path: {tmp_path}/graph.db}}"


def graphport(*arguments: str, status: int = 0) -> str:
    shown = CliRunner().invoke(main, arguments)
    if shown.exception is not None and not isinstance(shown.exception, SystemExit):
        raise shown.exception
    assert shown.exit_code == status, shown.stderr
    return shown.stderr if status else shown.stdout


class TestParquet:
    @pytest.mark.parametrize("group_rows", [100_000, 3])
    def test_a_graph_comes_back_to_the_letter(
        self, graph: GraphStorage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group_rows: int
    ) -> None:
        monkeypatch.setattr(export, "GROUP_ROWS", group_rows)
        counts = export.write_parquet(graph, tmp_path / "out" / "export")
        assert (counts.nodes, counts.edges) == (8, 8)
        copy = open_storage("memory")
        copy.bulk_load(export.read_parquet(tmp_path / "out" / "export"))
        assert list(copy.iter_nodes()) == list(graph.iter_nodes())
        assert list(copy.iter_edges()) == list(graph.iter_edges())

    def test_parts_are_cut_by_rows_and_nodes_are_numbered_by_id(
        self, graph: GraphStorage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(export, "GROUP_ROWS", 2)
        monkeypatch.setattr(export, "PART_GROUPS", 2)
        export.write_parquet(graph, tmp_path / "export")
        parts: list[Any] = [pq.read_table(part) for part in sorted((tmp_path / "export" / "edges").iterdir())]
        assert [part.num_rows for part in parts] == [4, 4, 0]
        nodes: list[Any] = [pq.read_table(part) for part in sorted((tmp_path / "export" / "nodes").iterdir())]
        numbered = [
            row for part in nodes for row in zip(part["index"].to_pylist(), part["id"].to_pylist(), strict=True)
        ]
        assert numbered == list(enumerate(node.id for node in graph.iter_nodes()))

    def test_an_empty_graph_is_an_export_too(self, tmp_path: Path) -> None:
        export.write_parquet(open_storage("memory"), tmp_path / "export")
        assert export.read_parquet(tmp_path / "export").n_nodes == 0

    def test_an_existing_folder_is_left_alone(self, graph: GraphStorage, tmp_path: Path) -> None:
        (tmp_path / "export").mkdir()
        with pytest.raises(InvalidInputError, match="exists; give a folder that does not"):
            export.write_parquet(graph, tmp_path / "export")
        assert list((tmp_path / "export").iterdir()) == []

    def test_a_graph_that_changes_meanwhile_leaves_no_folder(
        self, graph: GraphStorage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        revisions = iter([1, 2])
        monkeypatch.setattr(type(graph), "revision", lambda self: next(revisions))
        with pytest.raises(StorageBusyError, match="changed while it was written"):
            export.write_parquet(graph, tmp_path / "out" / "export")
        assert list((tmp_path / "out").iterdir()) == []

    def test_a_missing_part_is_not_a_smaller_graph(self, graph: GraphStorage, tmp_path: Path) -> None:
        export.write_parquet(graph, tmp_path / "export")
        part = tmp_path / "export" / "edges" / "part-00000.parquet"
        pq.write_table(pq.read_table(part).slice(1), part)
        with pytest.raises(StorageCorruptError, match=r"8 nodes and 7 edges, its graphport\.json says 8 and 8"):
            export.read_parquet(tmp_path / "export")

    def test_a_folder_of_something_else_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInputError, match="is no export of format 1"):
            export.read_parquet(tmp_path)


class TestSeedSets:
    def test_a_list_is_uniform_and_a_mapping_has_weights(self) -> None:
        lines = ['{"set": "q1", "seeds": ["a", "b", "a"]}\n', "\n", '{"set": "q2", "seeds": {"a": 3, "b": 1, "c": 0}}']
        one, two = read_seed_sets(lines)
        assert one.shares() == {"a": 0.5, "b": 0.5}
        assert two.shares() == {"a": 0.75, "b": 0.25}

    def test_shares_of_huge_weights_stay_finite(self) -> None:
        assert SeedSet("q", {"a": 1.5e308, "b": 1.5e308}).shares() == {"a": 0.5, "b": 0.5}

    @pytest.mark.parametrize(
        "lines, message",
        [
            ([], "the seeds hold no set"),
            (["{"], "line 1 of the seeds is no JSON"),
            (["[1]"], "line 1 of the seeds is not of the form"),
            (['{"set": "q", "seeds": "a"}'], "line 1 of the seeds is not of the form"),
            (['{"set": "q", "seeds": ["a"], "k": 3}'], "line 1 of the seeds is not of the form"),
            (['{"set": "q", "seeds": []}'], "line 1 of the seeds starts nowhere"),
            (['{"set": "q", "seeds": {"a": 0}}'], "line 1 of the seeds starts nowhere"),
            (['{"set": "q", "seeds": {"a": -1}}'], "weight in line 1 of the seeds"),
            (['{"set": "q", "seeds": {"a": NaN}}'], "weight in line 1 of the seeds"),
            (['{"set": "q", "seeds": ["a", ""]}'], "seed in line 1 of the seeds"),
            (['{"set": "q", "seeds": ["a"]}'] * 2, "line 2 of the seeds: set 'q' came before"),
        ],
    )
    def test_what_is_no_seed_set_is_refused_with_its_line(self, lines: list[str], message: str) -> None:
        with pytest.raises(GraphportError, match=message):
            read_seed_sets(lines)

    @pytest.mark.parametrize(
        "wrong", [{"k": 0}, {"damping": 1.0}, {"tol": 0.0}, {"epsilon": -1.0}, {"tol": float("nan")}]
    )
    def test_a_ranking_out_of_range_is_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(InvalidInputError, match="it must be"):
            Ranking(**wrong)


class TestCommands:
    def test_a_store_and_its_export_rank_alike_and_as_pagerank_does(self, store: str, tmp_path: Path) -> None:
        (tmp_path / "seeds").write_text('{"set": "q1", "seeds": ["tail"]}\n{"set": "q2", "seeds": ["alone"]}\n')
        rank = ["--seeds", str(tmp_path / "seeds"), "-k", "3"]
        assert graphport("export", store, str(tmp_path / "export"), "--format", "parquet") == (
            "8 nodes and 8 edges copied\n"
        )
        shown = graphport("rank", store, *rank)
        assert graphport("rank", str(tmp_path / "export"), *rank) == shown
        first, second = (json.loads(line) for line in shown.splitlines())
        with open_storage("memory", path=tmp_path / "graph.db") as graph:
            exact = personalized_pagerank(graph, ["tail"])
        assert [row["node"] for row in first["nodes"]] == [node for node, _ in exact.top(3)]
        assert all(abs(row["score"] - exact[row["node"]]) <= first["error_bound"] for row in first["nodes"])
        assert (second["set"], second["nodes"]) == ("q2", [{"node": "alone", "score": 1.0}])

    def test_an_export_goes_back_into_a_store_and_overwrites_only_when_told(self, store: str, tmp_path: Path) -> None:
        graphport("export", store, str(tmp_path / "export"), "--format", "parquet")
        copy = f"memory {{path: {tmp_path}/copy.db}}"
        assert graphport("import", copy, str(tmp_path / "export")) == "8 nodes and 8 edges copied\n"
        assert "pass --replace" in graphport("import", copy, str(tmp_path / "export"), status=1)
        graphport("import", copy, str(tmp_path / "export"), "--replace")
        assert graphport("export", copy) == graphport("export", store)

    def test_only_nodes_of_a_kind_are_ranked(self, store: str, tmp_path: Path) -> None:
        (tmp_path / "seeds").write_text('{"set": "q", "seeds": ["alone", "tail"]}')
        shown = json.loads(graphport("rank", store, "--seeds", str(tmp_path / "seeds"), "--kind", "even"))
        assert [row["node"] for row in shown["nodes"]] == ["alone"]

    def test_communities_are_a_line_a_node(self, store: str) -> None:
        rows = [json.loads(line) for line in graphport("communities", store).splitlines()]
        assert [row["node"] for row in rows] == sorted([*IDS[1:], "alone"])
        assert rows[0]["community"] == 0

    def test_a_knowledge_base_is_a_graph_by_name(self, tmp_path: Path) -> None:
        (tmp_path / "note.md").write_text("# Anvils\n\nAcme makes anvils.\n")
        home = ["--home", str(tmp_path / "home")]
        graphport(*home, "index", str(tmp_path / "note.md"), "--db", "shop", "--embedder", "none")
        lines = graphport(*home, "export", "shop").splitlines()
        assert "end" in json.loads(lines[-1])
        assert "no knowledge base 'shoe'" in graphport(*home, "communities", "shoe", status=1)

    @pytest.mark.parametrize(
        "arguments, message",
        [
            (["--engine", "flink"], "no engine 'flink'; installed: memory, spark"),
            (["--set", "spark.master=local"], "engine memory has no settings; leave spark.master out"),
            (["--damping", "1"], "damping is 1.0; it must be in"),
        ],
    )
    def test_what_an_engine_cannot_do_is_refused(
        self, store: str, tmp_path: Path, arguments: list[str], message: str
    ) -> None:
        (tmp_path / "seeds").write_text('{"set": "q", "seeds": ["tail"]}')
        assert message in graphport("rank", store, "--seeds", str(tmp_path / "seeds"), *arguments, status=1)

    def test_parquet_needs_a_folder_to_go_to(self, store: str) -> None:
        assert "give its TARGET" in graphport("export", store, "--format", "parquet", status=2)


def test_finding_the_engines_imports_no_spark() -> None:
    assert list(plugins().batch_engines()) == ["memory", "spark"]
    code = "import sys; from graphport.registry import plugins; plugins().batch_engines(); print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not {"pyspark", "pyarrow"} & set(found.stdout.split())
