"""The certified top k against a dense solve of the definition: on small graphs of every kind, and by hand."""

from __future__ import annotations

import math
import threading
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphport.errors import InvalidInputError, InvalidSeedsError, MissingNodeError
from graphport.rank import kernels, ordering, push, topk
from graphport.rank.pagerank import personalized_pagerank
from graphport.rank.topk import TopPageRank, top_personalized_pagerank
from graphport.snapshot import GraphSnapshot

TIE = 1e-9


class Case(NamedTuple):
    """A random graph, a random question and its exact answer."""

    graph: GraphSnapshot
    seeds: dict[str, float]
    mask: NDArray[np.bool_] | None
    damping: float
    k: int
    max_work: int | None
    scores: NDArray[np.float64]


def random_case(seed: int, *, largest: int = 150) -> Case:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, rng.choice([4, 12, 50, largest])))
    m = int(rng.integers(0, 1 + n * rng.choice([1, 2, 5])))
    source, target = rng.integers(0, n, (2, m))
    if rng.random() < 0.5:
        loop = source == target
        source, target = source[~loop], target[~loop]
    graph = GraphSnapshot.from_arrays([f"n{i:04d}" for i in range(n)], source, target, random_weights(rng, len(source)))
    rows = rng.choice(n, int(rng.integers(1, min(n, 5) + 1)), replace=False)
    weights = rng.choice([1.0, 1.0, 0.3, 1e-5, 1e4], len(rows))
    return Case(
        graph,
        {graph.ids[row]: weight for row, weight in zip(rows.tolist(), weights.tolist(), strict=True)},
        rng.random(n) < 0.5 if rng.random() < 0.4 else None,
        damping := float(rng.choice([0.0, 0.5, 0.5, 0.85, 0.97])),
        int(rng.choice([1, 3, 20, n])),
        [None, 0, 1000, 10**9][rng.integers(4)],
        dense_scores(graph, rows, weights, damping),
    )


def random_weights(rng: np.random.Generator, m: int) -> NDArray[np.float64]:
    choices: list[NDArray[np.float64]] = [
        np.ones(m),
        rng.integers(0, 4, m).astype(np.float64),
        rng.random(m),
        10.0 ** rng.uniform(-9, 9, m),
        10.0 ** rng.uniform(-3, 3, m) * 10.0 ** rng.choice([-200, 200]),
    ]
    return choices[rng.integers(5)]


def dense_scores(
    graph: GraphSnapshot, rows: NDArray[np.int64], weights: NDArray[np.float64], damping: float
) -> NDArray[np.float64]:
    n = graph.n_nodes
    flow = np.zeros((n, n))
    weight = graph.weight / max(1e-300, graph.weight.max(initial=0))
    np.add.at(flow, (graph.source_index, graph.target_index), weight)
    np.add.at(flow, (graph.target_index, graph.source_index), weight)
    out = flow.sum(axis=1, keepdims=True)
    step = np.divide(flow, out, out=np.zeros_like(flow), where=out > 0)
    reset = np.zeros(n)
    reset[rows] = weights / weights.sum()
    scores: NDArray[np.float64] = np.linalg.solve(np.eye(n) - damping * step.T, (1 - damping) * reset)
    scores /= scores.sum()
    return scores


def check(case: Case, found: TopPageRank) -> None:
    """Set, order and bounds are right as far as the dense solve (absolute error some 1e-14) can say."""
    exact, ranked = case.scores, np.ones(case.graph.n_nodes, dtype=bool) if case.mask is None else case.mask.copy()
    rows = np.array([case.graph.index_of(node_id) for node_id, _ in found.top()], dtype=np.int64)
    assert found.certified
    assert len(set(rows.tolist())) == len(rows) == min(case.k, ranked.sum())
    assert ranked[rows].all()
    ours = exact[rows]
    assert (ours >= found.bounds[:, 0] * (1 - 1e-10) - 1e-13).all()
    assert (ours <= found.bounds[:, 1] * (1 + 1e-10) + 1e-13).all()
    assert (ours[1:] <= ours[:-1] * (1 + TIE) + 1e-13).all()
    ranked[rows] = False
    if len(rows) and ranked.any():
        assert exact[ranked].max() <= ours[-1] * (1 + 2 * TIE) + 1e-13
    for tie in found.ties:
        assert list(tie) == sorted(tie)
        scores = exact[[case.graph.ids.index(node_id) for node_id in tie]]
        assert np.ptp(scores) <= 2 * TIE * scores.max() + 1e-13


@pytest.mark.parametrize("start", [0.3, 1e-2, push.START])
@pytest.mark.parametrize("block", range(7))
def test_no_certified_answer_is_wrong(block: int, start: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # A coarse first threshold, so that small graphs need the certificate as much as large ones do.
    monkeypatch.setattr(push, "START", start)
    for seed in range(block * 100, block * 100 + 100):
        case = random_case(seed)
        found = top_personalized_pagerank(
            case.graph, case.seeds, case.k, among=case.mask, damping=case.damping, max_work=case.max_work
        )
        try:
            check(case, found)
        except AssertionError as error:
            raise AssertionError(f"random_case({seed})") from error


def clusters(n: int, seed: int) -> GraphSnapshot:
    """A connected graph with hubs, large enough that push stays near the seeds."""
    rng = np.random.default_rng(seed)
    near = np.arange(n)
    source = np.concatenate([near[1:], rng.integers(0, n, 3 * n)])
    target = np.concatenate([near[1:] // 2, (source[n - 1 :] + rng.geometric(0.2, 3 * n)) % n])
    kind = rng.integers(0, 2, n)
    return GraphSnapshot.from_arrays(
        [f"n{i:06d}" for i in range(n)],
        source,
        target,
        rng.uniform(0.5, 2, len(source)),
        node_kind=kind,
        node_kinds=["entity", "passage"],
        entries=[f"n{i:06d}" if k else None for i, k in enumerate(kind.tolist())],
    )


BIG = clusters(60_000, 1)


@pytest.mark.parametrize("among", [None, "passage", ["entity", "passage"]])
@pytest.mark.parametrize("seed", [0, 17, 59_999])
@pytest.mark.parametrize("damping", [0.5, 0.85])
def test_best_nodes_of_a_large_graph_are_those_of_the_full_ranking(
    among: str | list[str] | None, seed: int, damping: float
) -> None:
    seeds = [BIG.ids[seed], BIG.ids[seed // 3]]
    found = top_personalized_pagerank(BIG, seeds, 20, among=among, damping=damping)
    ranks = personalized_pagerank(BIG, seeds, damping=damping, engine="chebyshev", tol=1e-12)
    kinds = {"entity", "passage"} if among is None else {among} if isinstance(among, str) else set(among)
    expected = [node_id for node_id, _ in ranks.top(200) if BIG.node_kind_of(BIG.index_of(node_id) or 0) in kinds]
    assert found.certified
    assert [node_id for node_id, _ in found.top()] == expected[:20]


def test_push_looks_at_a_small_part_of_a_large_graph() -> None:
    found = top_personalized_pagerank(BIG, [BIG.ids[30_000]], 10)
    assert found.how == "push"
    assert found.work < 0.2 * 2 * BIG.n_edges


def test_iteration_goes_on_where_push_stops() -> None:
    pushed = top_personalized_pagerank(BIG, [BIG.ids[30_000]], 10)
    iterated = top_personalized_pagerank(BIG, [BIG.ids[30_000]], 10, max_work=100)
    assert iterated.how == "chebyshev"
    assert iterated.certified
    assert [node_id for node_id, _ in iterated.top()] == [node_id for node_id, _ in pushed.top()]


def test_entry_mask_ranks_nodes_that_stand_for_an_entry() -> None:
    by_mask = top_personalized_pagerank(BIG, [BIG.ids[5]], 10, among=BIG.entry_mask())
    by_copy = top_personalized_pagerank(BIG, [BIG.ids[5]], 10, among=BIG.entry_mask().copy())
    by_kind = top_personalized_pagerank(BIG, [BIG.ids[5]], 10, among="passage")
    assert by_mask.ids == by_kind.ids == by_copy.ids


def test_a_mask_that_changes_is_not_remembered() -> None:
    mask = np.ones(BIG.n_nodes, dtype=bool)
    best = top_personalized_pagerank(BIG, [BIG.ids[5]], 1, among=mask).ids[0]
    mask[BIG.index_of(best) or 0] = False
    assert top_personalized_pagerank(BIG, [BIG.ids[5]], 1, among=mask).ids[0] != best
    mask[10:] = False
    assert len(top_personalized_pagerank(BIG, [BIG.ids[5]], 20, among=mask).ids) < 20


def test_bounds_enclose_the_exact_scores() -> None:
    found = top_personalized_pagerank(BIG, [BIG.ids[9]], 15)
    exact = personalized_pagerank(BIG, [BIG.ids[9]], engine="chebyshev", tol=1e-13)
    scores = np.array([exact[node_id] for node_id in found.ids])
    assert (found.bounds[:, 0] <= scores).all()
    assert (scores <= found.bounds[:, 1]).all()


def test_queries_from_many_threads_do_not_disturb_each_other() -> None:
    seeds = [[BIG.ids[i * 997]] for i in range(24)]
    alone = [top_personalized_pagerank(BIG, seed, 10).top() for seed in seeds]
    found: dict[int, list[tuple[str, float]]] = {}

    def work(start: int) -> None:
        for i in range(start, len(seeds), 6):
            found[i] = top_personalized_pagerank(BIG, seeds[i], 10).top()

    threads = [threading.Thread(target=work, args=(start,)) for start in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[i] for i in range(len(seeds))] == alone


def test_a_failed_query_leaves_nothing_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    before = top_personalized_pagerank(BIG, [BIG.ids[3]], 5).top()
    with monkeypatch.context() as broken:
        broken.setattr(topk, "prove_locally", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            top_personalized_pagerank(BIG, [BIG.ids[3]], 5)
    assert top_personalized_pagerank(BIG, [BIG.ids[3]], 5).top() == before


def test_without_scipys_compiled_kernels_the_best_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    before = top_personalized_pagerank(BIG, [BIG.ids[77]], 10, damping=0.85)
    monkeypatch.setattr(kernels, "available", lambda: False)
    after = top_personalized_pagerank(BIG, [BIG.ids[77]], 10, damping=0.85)
    assert after.ids == before.ids
    assert after.certified


def star(leaves: str, weight: float = 1.0) -> GraphSnapshot:
    return GraphSnapshot.from_arrays(
        ["hub", *leaves], [0] * len(leaves), range(1, len(leaves) + 1), [weight] * len(leaves)
    )


def test_equal_leaves_are_a_tie_ordered_by_id_across_the_end_of_the_list() -> None:
    found = top_personalized_pagerank(star("dacb"), ["hub"], 3)
    assert found.ids == ["hub", "a", "b"]
    assert found.ties == [("a", "b", "c", "d")]
    assert found.certified


def test_a_seeded_leaf_is_no_twin_of_the_others() -> None:
    found = top_personalized_pagerank(star("abc"), {"hub": 1.0, "b": 1e-3}, 4)
    assert found.ids == ["hub", "b", "a", "c"]
    assert found.ties == [("a", "c")]


def test_members_of_a_clique_are_a_tie() -> None:
    n = 6
    source, target = np.triu_indices(n, 1)
    found = top_personalized_pagerank(GraphSnapshot.from_arrays(list("fedcba"), source, target), ["a"], 4)
    assert found.ids == ["a", "b", "c", "d"]
    assert found.ties == [("b", "c", "d", "e", "f")]


def test_twins_are_a_tie_because_the_graph_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordering, "TIE", 0.0)  # no two scores are taken as equal because they look so
    # a-b-c: a triangle whose corners hang on a seed; x, y: two leaves of the other seed.
    base = BIG.ids
    new = ["a", "b", "c", "x", "y"]
    a, x = len(base), len(base) + 3
    source = [*BIG.source_index.tolist(), a, a, a + 1, a, a + 1, a + 2, x, x + 1]
    target = [*BIG.target_index.tolist(), a + 1, a + 2, a + 2, 30_000, 30_000, 30_000, 30_001, 30_001]
    graph = GraphSnapshot.from_arrays([*base, *new], source, target)
    found = top_personalized_pagerank(graph, [base[30_000], base[30_001]], 20)
    assert {("a", "b", "c"), ("x", "y")} <= set(found.ties)
    assert (found.certified, found.how) == (True, "push")


def test_nodes_that_no_seed_reaches_score_zero_and_come_last_by_id() -> None:
    graph = GraphSnapshot.from_arrays(list("zyxcab"), [0, 3], [1, 4])
    found = top_personalized_pagerank(graph, ["z"], 5)
    assert found.ids == ["z", "y", "a", "b", "c"]
    assert [score for _, score in found.top()][2:] == [0, 0, 0]
    assert found.ties == []
    assert found.certified


def test_seeds_without_edges_rank_by_what_a_restart_gives_them() -> None:
    graph = GraphSnapshot.from_arrays(list("abxy"), [0], [1])
    seeds = {"a": 1.0, "x": 2.0, "y": 1.0}
    found = top_personalized_pagerank(graph, seeds, 4)
    # Unnormalised: x and y keep half of 1/2 and 1/4, a and b share 1/4 as 2 to 1; in all 5/8.
    assert found.ids == ["x", "a", "y", "b"]
    assert found.bounds[[0, 2]] == pytest.approx(np.array([[2 / 5] * 2, [1 / 5] * 2]))
    assert found.bounds[1, 0] <= 4 / 15 <= found.bounds[1, 1]
    assert top_personalized_pagerank(graph, ["y"], 1).top()[0][1] == pytest.approx(1.0)


def test_scores_far_below_float64_of_the_largest_are_still_ordered() -> None:
    n = 120
    path = GraphSnapshot.from_arrays([f"n{i:03d}" for i in range(n)], range(n - 1), range(1, n))
    found = top_personalized_pagerank(path, ["n000"], n, max_work=0)
    assert list(found.ids)[2:] == list(path.ids)[2:]
    assert found.certified
    assert found.top()[-1][1] < 1e-60


def test_fewer_nodes_than_asked_for_are_all_of_them() -> None:
    assert top_personalized_pagerank(star("ab"), ["a"], 99).ids == ["a", "hub", "b"]


@pytest.mark.parametrize("among", ["nothing of this kind", [], np.zeros(3, dtype=bool)])
def test_nobody_to_rank_is_an_empty_answer(among: str) -> None:
    found = top_personalized_pagerank(star("ab"), ["a"], 5, among=among)
    assert found.top() == []
    assert found.certified


def test_top_gives_the_head_of_what_was_asked_for() -> None:
    found = top_personalized_pagerank(star("abc"), ["b"], 4)
    assert found.top(2) == found.top()[:2]
    assert found.top(0) == top_personalized_pagerank(star("abc"), ["b"], 0).top() == []


@pytest.mark.parametrize("mask", [np.ones(4, dtype=bool), np.ones(3), np.ones((3, 1), dtype=bool)])
def test_a_mask_of_the_wrong_shape_or_type_is_refused(mask: NDArray[np.bool_]) -> None:
    with pytest.raises(InvalidInputError, match="among"):
        top_personalized_pagerank(star("ab"), ["a"], 1, among=mask)


def test_the_contract_for_input_is_that_of_personalized_pagerank() -> None:
    graph = star("ab")
    with pytest.raises(InvalidSeedsError):
        top_personalized_pagerank(graph, [], 1)
    with pytest.raises(MissingNodeError):
        top_personalized_pagerank(graph, ["nobody"], 1)
    with pytest.raises(InvalidInputError):
        top_personalized_pagerank(graph, ["a"], -1)
    with pytest.raises(InvalidInputError):
        top_personalized_pagerank(graph, ["a"], 1, damping=math.nan)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 9).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.floats(0, 1e6)), max_size=25),
        )
    )
)
def test_any_weights_give_the_scores_of_the_reference(drawn: tuple[int, list[tuple[int, int, float]]]) -> None:
    n, edges = drawn
    source, target, weight = ([edge[i] for edge in edges] for i in range(3))
    graph = GraphSnapshot.from_arrays([f"n{i}" for i in range(n)], source, target, weight)
    found = top_personalized_pagerank(graph, ["n0"], n)
    exact = personalized_pagerank(graph, ["n0"])
    assert found.certified or found.bounds[-1, 0] < 1e-14  # below that, float64 has no order to prove
    assert all(
        abs(score - exact[node_id]) <= 1e-8 or low <= exact[node_id] <= high
        for (node_id, score), (low, high) in zip(found.top(), found.bounds.tolist(), strict=True)
    )
