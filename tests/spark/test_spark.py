"""Spark in local-cluster mode (executors in processes of their own) against the in-process engines."""

from __future__ import annotations

import json
import os
import shutil
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from click.testing import CliRunner

from graphport import Edge, Node, leiden_communities, open_storage, personalized_pagerank
from graphport.cli.main import main
from graphport_spark.plugin import SPARK

CLUSTER = {
    "spark.master": "local-cluster[1,2,512]",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    # For small data compiling costs more than it saves.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
SETS: dict[str, list[str] | dict[str, float]] = {
    "one": ["0'0"],
    "weighted, two components, one seed without edges": {"1'0": 3.0, "pair\n": 1.0, "alone": 1.0, "2'2": 0.0},
    "nowhere to go": ["alone"],
    "through a self-loop": ["😀"],
}
TOL = 0.01
DAMPING = 0.6
"""Not a half, where following and restarting weigh the same and could be mistaken for each other."""


@pytest.fixture(scope="module", autouse=True)
def spark() -> Iterator[None]:
    reason = SPARK.missing()
    if reason is not None:
        message = f"SPARK IS NOT TESTED HERE: {reason}; {SPARK.install_hint}"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    import pyspark
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")  # whatever this machine's name resolves to
        yield
        running = SparkSession.getActiveSession()
        if running is not None:
            logs = Path(pyspark.__file__).parent / "work" / str(running.sparkContext.applicationId)
            running.stop()
            shutil.rmtree(logs)  # a local cluster's workers write into pyspark's own folder


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Four cliques in a ring, a light one beside a heavy one, with all that is special about edges and ids."""
    cliques = [[f"{number}'{member}" for member in range(size)] for number, size in enumerate((9, 5, 5, 3))]
    cliques[2][0] = "😀"  # beyond the basic plane: UTF-16 order is not code point order
    cliques[2][1] = "\uff5e"
    edges = [Edge(a, b, "in", 1.0 + len(clique) // 4) for clique in cliques for a, b in combinations(clique, 2)]
    edges += [Edge(cliques[at - 1][0], cliques[at][1], "ring", 0.75) for at in range(4)]
    edges += [Edge("😀", "😀", "loop", 2.0), Edge("0'1", "0'0", "in"), Edge("0'0", "0'1", "also", 0.25)]
    edges += [Edge("0'0", "alone", "nothing", 0.0), Edge("pair\n", "pair2", "in", 1e-9)]
    place = f"memory {{path: {tmp_path}/graph.db}}"
    with open_storage("memory", path=tmp_path / "graph.db") as graph:
        names = [name for clique in cliques for name in clique]
        graph.upsert_nodes([Node(name, "clique", name) for name in names])
        graph.upsert_nodes([Node(name, "other", name) for name in ("alone", "pair\n", "pair2")])
        graph.upsert_edges(edges)
    return place


def graphport(*arguments: str, status: int = 0) -> str:
    settings = [word for key, value in CLUSTER.items() for word in ("--set", f"{key}={value}")]
    shown = CliRunner().invoke(main, [*arguments, "--engine", "spark", *settings])
    if shown.exception is not None and not isinstance(shown.exception, SystemExit):
        raise shown.exception
    assert shown.exit_code == status, shown.stderr
    return shown.stderr if status else shown.stdout


# One test: a second one could run in another process of pytest-xdist, and start a second cluster there.
@pytest.mark.slow
def test_a_cluster_agrees_with_this_process(store: str, tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.jsonl"
    seeds.write_text("".join(json.dumps({"set": name, "seeds": given}) + "\n" for name, given in SETS.items()))
    fine = ["--tol", str(TOL), "--damping", str(DAMPING), "-k", "100"]
    lines = graphport("rank", store, "--seeds", str(seeds), *fine).splitlines()
    with open_storage("memory", path=tmp_path / "graph.db") as graph:
        assert [json.loads(line)["set"] for line in lines] == list(SETS)
        for line, given in zip(lines, SETS.values(), strict=True):
            check_scores(json.loads(line), dict(personalized_pagerank(graph, given, damping=DAMPING)))
        coarse = ["--tol", "0.1", "--epsilon", "0.02", "--kind", "other"]
        for line, given in zip(
            graphport("rank", store, "--seeds", str(seeds), *coarse).splitlines(), SETS.values(), strict=True
        ):
            check_bounds(json.loads(line), dict(personalized_pagerank(graph, given)), {"alone", "pair\n", "pair2"})
        shown = [json.loads(line) for line in graphport("communities", store).splitlines()]
        assert {row["node"]: row["community"] for row in shown} == leiden_communities(graph)
        oracle = networkx_of(graph)
        theirs = nx.community.louvain_communities(oracle, seed=1)
        best = nx.community.modularity(oracle, theirs)
        assert nx.community.modularity(oracle, members(shown)) >= best - 1e-12

    seeds.write_text('{"set": "unknown", "seeds": ["0\'0", "nobody"]}')
    assert "not in the graph: 'nobody'" in graphport("rank", store, "--seeds", str(seeds), status=1)
    told = graphport("rank", f"file://{tmp_path}", "--seeds", str(seeds), status=1)
    assert "graphport export GRAPH FOLDER --format parquet" in told
    copied = CliRunner().invoke(main, ["export", store, str(tmp_path / "export"), "--format", "parquet"])
    assert copied.exit_code == 0
    shutil.rmtree(tmp_path / "export" / "nodes")
    told = graphport("rank", str(tmp_path / "export"), "--seeds", str(seeds), status=1)
    assert "Spark could not finish: [PATH_NOT_FOUND]" in told


def check_scores(found: dict[str, Any], exact: dict[str, float]) -> None:
    """L1 distance within what was asked for, and within what the answer says of itself."""
    scores = {row["node"]: row["score"] for row in found["nodes"]}
    distance = sum(abs(score - scores.get(node, 0.0)) for node, score in exact.items())
    assert distance <= 2 * found["error_bound"] + 1e-9
    assert found["error_bound"] <= TOL
    assert list(scores.values()) == sorted(scores.values(), reverse=True)


def check_bounds(found: dict[str, Any], exact: dict[str, float], kind: set[str]) -> None:
    """Only nodes of the kind, each score within what the answer says of itself."""
    assert {row["node"] for row in found["nodes"]} == {node for node in kind if exact[node] > 0}
    assert all(abs(row["score"] - exact[row["node"]]) <= found["error_bound"] + 1e-9 for row in found["nodes"])
    assert 0 <= found["error_bound"] < 0.5


def members(rows: list[dict[str, Any]]) -> list[set[str]]:
    found: dict[int, set[str]] = defaultdict(set)
    for row in rows:
        found[row["community"]].add(row["node"])
    return list(found.values())


def networkx_of(graph: Any) -> Any:
    oracle: Any = nx.MultiGraph()
    oracle.add_nodes_from(node.id for node in graph.iter_nodes())
    oracle.add_weighted_edges_from((edge.source, edge.target, edge.weight) for edge in graph.iter_edges())
    return oracle


@pytest.mark.parametrize("damping, tol, expected", [(0.5, 0.25, 2), (0.5, 1e-6, 20), (0.85, 1e-6, 86), (0.0, 1e-6, 1)])
def test_rounds_leave_at_most_the_tolerance_waiting(damping: float, tol: float, expected: int) -> None:
    from graphport_spark.pagerank import rounds  # pyspark, which may be what is missing

    assert rounds(damping, tol) == expected
    assert damping**expected <= tol
