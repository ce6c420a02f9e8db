"""The engines agree with each other and with a dense solve, in every case that has its own rule."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphport.errors import ConvergenceError, InvalidInputError, InvalidWeightError
from graphport.rank import kernels
from graphport.rank.pagerank import Engine, personalized_pagerank
from graphport.rank.walk import walk_of
from graphport.snapshot import GraphSnapshot

Pairs = list[tuple[int, int, float]]


def graph_of(n: int, edges: Pairs) -> GraphSnapshot:
    source, target, weight = ([edge[i] for edge in edges] for i in range(3))
    return GraphSnapshot.from_arrays([f"n{i:04d}" for i in range(n)], source, target, weight)


def dense_pagerank(
    graph: GraphSnapshot, seeds: dict[str, float], *, damping: float, directed: bool = False, weighted: bool = True
) -> NDArray[np.float64]:
    """The definition, solved: (1 - d P^T) x = (1 - d) reset, scaled to mass 1."""
    n = graph.n_nodes
    flow = np.zeros((n, n))
    weight = graph.weight if weighted else np.ones(graph.n_edges)
    np.add.at(flow, (graph.source_index, graph.target_index), weight)
    if not directed:
        flow = flow + flow.T
    out = flow.sum(axis=1, keepdims=True)
    step = np.divide(flow, out, out=np.zeros_like(flow), where=out > 0)
    reset = np.array([seeds.get(node_id, 0.0) for node_id in graph.ids])
    scores: NDArray[np.float64] = np.linalg.solve(np.eye(n) - damping * step.T, (1 - damping) * reset)
    scores /= scores.sum()
    return scores


def random_edges(n: int, m: int, seed: int) -> Pairs:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (m, 2)).tolist()
    return [(a, b, w) for (a, b), w in zip(ends, rng.uniform(0.1, 3, m).tolist(), strict=True)]


CASES: dict[str, tuple[int, Pairs, dict[str, float]]] = {
    "large enough for PRPACK to iterate": (400, random_edges(400, 1500, 1), {"n0000": 1, "n0007": 2}),
    "dangling": (4, [(0, 1, 1), (1, 2, 1), (0, 3, 2)], {"n0000": 1}),
    "isolated node": (4, [(0, 1, 1)], {"n0000": 1}),
    "isolated seed": (4, [(0, 1, 1)], {"n0000": 1, "n0003": 3}),
    "only isolated seeds": (4, [(0, 1, 1)], {"n0002": 1, "n0003": 3}),
    "zero weight": (4, [(0, 1, 1), (1, 2, 0), (2, 3, 1)], {"n0000": 1}),
    "only zero weights": (3, [(0, 1, 0), (1, 2, 0)], {"n0000": 1, "n0001": 1}),
    "self-loop": (3, [(0, 0, 2), (0, 1, 1), (1, 2, 1), (2, 2, 0.5)], {"n0001": 1}),
    "self-loop alone": (2, [(0, 0, 1)], {"n0000": 1, "n0001": 1}),
    "parallel edges": (3, [(0, 1, 1), (0, 1, 2), (1, 0, 4), (1, 2, 1)], {"n0000": 1}),
    "disconnected seeds": (6, [(0, 1, 1), (1, 2, 1), (3, 4, 1), (4, 5, 3)], {"n0000": 1, "n0004": 2}),
    "tiny and huge weights": (4, [(0, 1, 1e-9), (1, 2, 1e9), (2, 3, 1), (3, 0, 1e-3)], {"n0000": 1}),
}


@pytest.mark.parametrize("damping", [0.0, 0.5, 0.85, 0.99])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "unweighted"])
@pytest.mark.parametrize("case", CASES)
def test_engines_agree(case: str, damping: float, directed: bool, weighted: bool) -> None:
    n, edges, seeds = CASES[case]
    graph = graph_of(n, edges)
    expected = dense_pagerank(graph, seeds, damping=damping, directed=directed, weighted=weighted)
    for engine in ("igraph", "chebyshev", "push"):
        found = personalized_pagerank(
            graph,
            seeds,
            damping=damping,
            directed=directed,
            weighted=weighted,
            engine=engine,
            tol=1e-10,
            max_iter=10_000,
        )
        error = np.abs(found.scores - expected).sum()
        assert error <= min(1e-9, found.error_bound + 1e-12), (engine, error)


@settings(deadline=None, max_examples=80)
@given(
    st.integers(1, 8).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(
                st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.floats(0, 1e6)),
                max_size=20,
            ),
            st.dictionaries(st.integers(0, n - 1), st.floats(1e-3, 1e3), min_size=1),
        )
    ),
    st.booleans(),
)
def test_engines_agree_on_any_weights(drawn: tuple[int, Pairs, dict[int, float]], directed: bool) -> None:
    n, edges, by_row = drawn
    graph = graph_of(n, edges)
    seeds = {graph.ids[row]: weight for row, weight in by_row.items()}
    igraph, exact = (
        personalized_pagerank(graph, seeds, directed=directed, engine=engine).scores
        for engine in ("igraph", "chebyshev")
    )
    assert np.abs(igraph - exact).sum() <= 1e-9


@pytest.mark.parametrize("engine", ["igraph", "chebyshev", "push"])
@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e300])
def test_a_common_factor_of_all_weights_changes_nothing(engine: Engine, scale: float) -> None:
    edges = [(0, 1, 1.0), (1, 2, 2.0), (2, 3, 3.0), (3, 3, 1.0)]
    scaled = graph_of(4, [(a, b, w * scale) for a, b, w in edges])
    found, expected = (
        personalized_pagerank(g, ["n0000"], engine=engine, tol=1e-10).scores for g in (scaled, graph_of(4, edges))
    )
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("engine", ["igraph", "chebyshev", "push"])
def test_weights_too_far_apart_for_one_scale_are_still_probabilities(engine: Engine) -> None:
    # Node 2 practically always goes on to 3.
    graph = graph_of(4, [(0, 1, 5e-324), (1, 2, 5e-324), (2, 3, 1e250)])
    equal = graph_of(4, [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1e12)])
    found, expected = (personalized_pagerank(g, ["n0000"], engine=engine, tol=1e-10).scores for g in (graph, equal))
    assert found == pytest.approx(expected, abs=1e-9)


def test_coarse_push_keeps_its_error_bound() -> None:
    graph = graph_of(2000, random_edges(2000, 8000, 3))
    exact = personalized_pagerank(graph, ["n0005"], engine="chebyshev").scores
    for tol in (1e-1, 1e-3, 1e-6):
        found = personalized_pagerank(graph, ["n0005"], engine="push", tol=tol)
        assert np.abs(found.scores - exact).sum() <= found.error_bound <= tol
        assert found.scores.sum() == pytest.approx(1, abs=1e-12)


def test_too_few_iterations_are_an_error_not_a_worse_answer() -> None:
    with pytest.raises(ConvergenceError, match="3 iterations"):
        personalized_pagerank(graph_of(*CASES["dangling"][:2]), ["n0000"], engine="chebyshev", max_iter=3)


@pytest.mark.parametrize("tol", [0.0, -1.0, 1e-20, float("nan")])
def test_a_tolerance_below_float64_is_refused(tol: float) -> None:
    with pytest.raises(InvalidInputError, match="tol"):
        personalized_pagerank(graph_of(*CASES["dangling"][:2]), ["n0000"], engine="chebyshev", tol=tol)


def test_an_unknown_engine_is_named() -> None:
    with pytest.raises(InvalidInputError, match="'arpack'"):
        personalized_pagerank(graph_of(1, []), ["n0000"], engine="arpack")  # type: ignore[arg-type]  # wrong on purpose


def test_a_snapshot_built_past_the_checks_is_refused() -> None:
    checked = graph_of(2, [(0, 1, 1.0)])
    unchecked = GraphSnapshot(
        ids=checked.ids,
        names=checked.names,
        entries=checked.entries,
        node_kinds=checked.node_kinds,
        node_kind=checked.node_kind,
        source_index=checked.source_index,
        target_index=checked.target_index,
        edge_kinds=checked.edge_kinds,
        edge_kind=checked.edge_kind,
        weight=np.array([np.nan]),
    )
    with pytest.raises(InvalidWeightError):
        personalized_pagerank(unchecked, ["n0000"])


def test_walk_is_built_once_and_moves_all_mass() -> None:
    graph = graph_of(50, random_edges(50, 200, 4))
    walk = walk_of(graph)
    assert walk is walk_of(graph)
    assert walk.step.T @ np.ones(50) == pytest.approx(np.where(walk.degree > 0, 1, 0))


def test_queries_from_many_threads_give_what_one_thread_gives() -> None:
    graph = graph_of(500, random_edges(500, 2000, 5))
    seeds = [[f"n{i:04d}"] for i in range(24)]
    alone = [personalized_pagerank(graph, seed, engine="push", tol=1e-8).scores for seed in seeds]
    found: dict[int, NDArray[np.float64]] = {}

    def work(start: int) -> None:
        for i in range(start, len(seeds), 6):
            found[i] = personalized_pagerank(graph, seeds[i], engine="push", tol=1e-8).scores

    threads = [threading.Thread(target=work, args=(start,)) for start in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(found[i], scores) for i, scores in enumerate(alone))


def test_compiled_and_plain_kernels_do_the_same() -> None:
    assert kernels.available()  # scipy dropped or changed its private functions: see rank/kernels.py
    rng = np.random.default_rng(0)
    step = walk_of(graph_of(60, random_edges(60, 300, 6))).step
    picked = rng.permutation(60)[:20]
    factors, vector = rng.random(20), rng.random(60)
    results = []
    for compiled in (True, False):
        rows = kernels.gather_rows(step, picked, compiled=compiled)
        scattered, product = np.ones(60), np.ones(60)
        kernels.scatter_add(rows, factors, scattered, compiled=compiled)
        kernels.add_product(step, vector, product, compiled=compiled)
        results.append((rows, scattered, product))
    (rows, scattered, product), (plain_rows, plain_scattered, plain_product) = results
    assert all(np.array_equal(a, b) for a, b in zip(rows, plain_rows, strict=True))
    assert scattered == pytest.approx(plain_scattered, abs=1e-12)
    assert product == pytest.approx(plain_product, abs=1e-12)


def test_without_scipys_compiled_kernels_answers_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(300, random_edges(300, 900, 7))
    before = personalized_pagerank(graph, ["n0001"], engine="push", tol=1e-9).scores

    class Gone:
        pass

    monkeypatch.setattr(kernels, "_tools", Gone)
    kernels.available.cache_clear()
    try:
        assert not kernels.available()
        after = personalized_pagerank(graph, ["n0001"], engine="push", tol=1e-9).scores
    finally:
        kernels.available.cache_clear()
    assert after == pytest.approx(before, abs=1e-9)
