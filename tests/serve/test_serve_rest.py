"""The REST routes, over real HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from serve_server import MARKUP, TOWN, fill, get, problem, served, settings

from graphport import open_knowledge_base


def test_knowledge_bases_are_listed_by_name(client: httpx.Client) -> None:
    assert get(client, "/api/vectordb") == {"knowledge_bases": [{"name": "smithy"}, {"name": "town"}]}


def test_a_knowledge_base_tells_what_it_holds_and_not_where(client: httpx.Client, filled: Any) -> None:
    found = get(client, TOWN)
    assert (found["name"], found["entries"], found["backend"]) == ("town", 4, "memory")
    assert found["graph"]["node_kinds"]["passage"] == 4
    assert str(filled) not in str(found)


def test_search_without_the_graph_is_the_fused_order(client: httpx.Client) -> None:
    found = get(client, f"{TOWN}/search", q="zyzzyva", graph=False)
    assert [hit["entry"] for hit in found["hits"]] == ["noyon"]
    assert found["graph"] is False
    assert found["hits"][0]["why"] is None


def test_search_explains_itself_on_demand(client: httpx.Client) -> None:
    found = get(client, f"{TOWN}/search", q="Geneva", graph=True, explain=True)
    first = found["hits"][0]
    assert found["graph"] is True
    assert first["why"]["ranks"]["lexical"] >= 1
    assert first["nodes"] == [f"entry:{first['entry']}"]


def test_search_takes_top_k(client: httpx.Client) -> None:
    assert len(get(client, f"{TOWN}/search", q="Geneva", top_k=1)["hits"]) == 1


@pytest.mark.parametrize(
    "params",
    [{}, {"q": ""}, {"q": "x", "top_k": 0}, {"q": "x", "graph_weight": 1.5}, {"q": "x", "graph_weight": "nan"},
     {"q": "x", "mode": "magic"}, {"q": "x" * 3000}],
)  # fmt: skip
def test_a_bad_parameter_is_named_and_not_echoed(client: httpx.Client, params: dict[str, Any]) -> None:
    response = client.get(f"{TOWN}/search", params=params)
    assert problem(response) == (422, "invalid-request")
    assert "query." in response.json()["errors"][0]["where"]
    assert "xxx" not in response.text


def test_a_query_of_blanks_has_the_librarys_own_code(client: httpx.Client) -> None:
    assert problem(client.get(f"{TOWN}/search", params={"q": "  "})) == (422, "invalid-query")


def test_meaning_only_search_without_an_embedder_is_a_conflict(client: httpx.Client) -> None:
    assert problem(client.get(f"{TOWN}/search", params={"q": "lake", "mode": "dense"})) == (409, "unsupported")


def test_an_absent_knowledge_base_path_or_method_is_told_apart(client: httpx.Client) -> None:
    assert problem(client.get("/api/vectordb/nowhere/search?q=x")) == (404, "knowledge-base-not-found")
    assert problem(client.get("/api/vectordb/%3Amemory%3A/search?q=x")) == (404, "knowledge-base-not-found")
    assert problem(client.get("/api/vectordb/../search?q=x")) == (404, "not-found")
    assert problem(client.get("/api/nothing")) == (404, "not-found")
    assert problem(client.post(TOWN)) == (405, "method-not-allowed")


def test_a_report_names_the_source_of_each_sentence(client: httpx.Client) -> None:
    found = get(client, f"{TOWN}/report", q="cathedral", budget=15)
    assert found["cites"] == ["noyon"]
    assert "> Noyon is a town with a cathedral and a zyzzyva. [1]" in found["markdown"]
    assert problem(client.get(f"{TOWN}/report", params={"q": "x", "budget": "nan"})) == (422, "invalid-request")


def test_a_report_that_is_kept_cites_its_sources_in_the_graph(tmp_path: Path) -> None:
    config = settings(tmp_path)
    fill(config)
    with served(config) as address, httpx.Client(base_url=address, timeout=30) as client:
        assert client.post(f"{TOWN}/report", params={"q": "cathedral"}).json()["cites"][0] == "noyon"
        around = get(client, f"{TOWN}/graph", node="entry:noyon", kind="cites")
        assert [edge["target"] for edge in around["edges"]] == ["entry:noyon"]


# -- the graph ------------------------------------------------------------------------------------------


def test_the_neighbourhood_of_a_node_comes_nearest_first(client: httpx.Client) -> None:
    found = get(client, f"{TOWN}/graph", node="entity:location:Geneva", depth=1)
    assert found["nodes"][0]["id"] == "entity:location:Geneva"
    assert [node["depth"] for node in found["nodes"]] == sorted(node["depth"] for node in found["nodes"])
    ids = {node["id"] for node in found["nodes"]}
    assert {"entry:geneva", "entry:calvin"} <= ids
    assert all(edge["source"] in ids and edge["target"] in ids for edge in found["edges"])
    assert found["nodes"][0]["degree"] == sum(
        "entity:location:Geneva" in (e["source"], e["target"]) for e in found["edges"]
    )


def test_a_cut_neighbourhood_says_so(client: httpx.Client) -> None:
    found = get(client, f"{TOWN}/graph", node="entity:location:Geneva", max_nodes=2)
    assert (len(found["nodes"]), found["truncated"]) == (2, True)


def test_edge_kinds_can_be_chosen_and_communities_asked_for(client: httpx.Client) -> None:
    found = get(client, f"{TOWN}/graph", node="entry:geneva", kind="titled", communities=True)
    assert {edge["kind"] for edge in found["edges"]} <= {"titled"}
    assert all(isinstance(node["community"], int) for node in found["nodes"])
    assert get(client, f"{TOWN}/graph", kind="no such kind")["edges"] == []


def test_without_a_node_the_best_connected_are_shown(client: httpx.Client) -> None:
    whole = get(client, f"{TOWN}/graph", max_nodes=5000)
    status = get(client, TOWN)["graph"]
    assert (len(whole["nodes"]), len(whole["edges"]), whole["truncated"]) == (status["nodes"], status["edges"], False)
    best = get(client, f"{TOWN}/graph", max_nodes=1)
    assert best["nodes"][0]["degree"] == max(node["degree"] for node in whole["nodes"])


def test_an_absent_node_is_not_an_empty_graph(client: httpx.Client) -> None:
    assert problem(client.get(f"{TOWN}/graph", params={"node": "nobody"})) == (404, "missing-node")
    assert problem(client.get(f"{TOWN}/pagerank", params={"node": "nobody"})) == (404, "missing-node")


def test_nodes_are_found_by_part_of_their_name_whole_names_first(client: httpx.Client) -> None:
    found = get(client, f"{TOWN}/nodes", q="CALVIN")["nodes"]
    assert {"John Calvin"} == {node["name"] for node in found}
    assert get(client, f"{TOWN}/nodes", q="noyon")["nodes"][0]["name"] == "Noyon"
    assert get(client, f"{TOWN}/nodes", q="calvin", kind="nothing")["nodes"] == []


def test_a_graph_that_is_never_read_as_a_whole_is_still_walked_node_by_node(tmp_path: Path) -> None:
    config = settings(tmp_path)
    fill(config)
    config["vector_dbs"][0]["retrieval"] = {"max_visited": 50, "graph_mode": "leg"}
    with served(config) as address, httpx.Client(base_url=address, timeout=30) as client:
        found = get(client, f"{TOWN}/graph", node="entity:location:Geneva", communities=True)
        edges = [edge for edge in found["edges"] if "entity:location:Geneva" in (edge["source"], edge["target"])]
        assert (found["nodes"][0]["degree"], found["nodes"][0]["community"]) == (len(edges), None)
        hits = get(client, f"{TOWN}/search", q="Geneva", graph=True, explain=True)["hits"]
        assert hits[0]["nodes"] == [f"entry:{hits[0]['entry']}"]
        for path in ("graph", "nodes?q=x", "communities", "pagerank?node=entry:geneva", "entities"):
            assert problem(client.get(f"{TOWN}/{path}")) == (409, "unsupported")


def test_a_walk_shares_out_one(client: httpx.Client) -> None:
    found = get(client, f"{TOWN}/pagerank", node="entry:geneva", top_k=5000)
    scores = [node["score"] for node in found["scores"]]
    assert sum(scores) == pytest.approx(1)
    assert scores == sorted(scores, reverse=True)
    assert found["scores"][0]["id"] == "entry:geneva"


def test_communities_cover_the_graph(client: httpx.Client) -> None:
    found = get(client, f"{TOWN}/communities", algorithm="louvain")
    assert sum(item["size"] for item in found["communities"]) == get(client, TOWN)["graph"]["nodes"]
    assert all(1 <= len(item["members"]) <= 5 for item in found["communities"])
    assert -0.5 <= found["modularity"] <= 1


def test_a_list_goes_on_by_its_cursor(client: httpx.Client) -> None:
    whole = get(client, f"{TOWN}/nodes", q="o", limit=100)
    seen: list[Any] = []
    cursor = None
    while True:
        page = get(client, f"{TOWN}/nodes", q="o", limit=2, **({"cursor": cursor} if cursor else {}))
        seen += page["nodes"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == whole["nodes"]
    assert whole["next_cursor"] is None


def test_a_cursor_of_another_question_is_refused(client: httpx.Client) -> None:
    cursor = get(client, f"{TOWN}/nodes", q="o", limit=1)["next_cursor"]
    assert problem(client.get(f"{TOWN}/nodes", params={"q": "a", "cursor": cursor})) == (422, "invalid-query")
    assert problem(client.get(f"{TOWN}/nodes", params={"q": "o", "cursor": "%%%"})) == (422, "invalid-query")


# -- entities -------------------------------------------------------------------------------------------


def test_an_entity_is_found_by_any_of_its_names_with_the_texts_that_mention_it(client: httpx.Client) -> None:
    for name in ("Geneva", "GENF", "genf"):
        found = get(client, f"{TOWN}/entity", name=name)
        assert (found["id"], found["type"], found["name"]) == ("entity:location:Geneva", "location", "Geneva")
        assert [(item["entry"], item["titled"]) for item in found["mentions"]] == [
            ("geneva", True), ("calvin", False), ("markup", False),
        ]  # fmt: skip
    assert problem(client.get(f"{TOWN}/entity", params={"name": "Geneva", "type": "person"})) == (404, "missing-node")
    assert problem(client.get(f"{TOWN}/concept", params={"name": "Geneva"})) == (404, "missing-node")
    assert problem(client.get(f"{TOWN}/entity", params={"name": "!!"})) == (422, "invalid-id")


BOOK = """Title: On Bells

CHAPTER I

Of Projections

We speak of Projections, and of Event Sourcing. The Projections are many; as Event Sourcing shows, they are read.

CHAPTER II

Of Towers

A tower has a bell. With Event Sourcing it rings again.
"""


def test_a_concept_names_its_chapters_and_counts_each_text_once(tmp_path: Path) -> None:
    pytest.importorskip("stopwordsiso")
    (tmp_path / "bells.book.txt").write_text(BOOK)
    config = settings(tmp_path / "home")
    with open_knowledge_base("town", config=config) as kb:
        kb.index([tmp_path / "bells.book.txt"])
    with served(config) as address, httpx.Client(base_url=address, timeout=30) as client:
        found = get(client, f"{TOWN}/concept", name="event sourcing")
        assert found["id"] == "entity:topic:Event Sourcing"
        assert [chapter["kind"] for chapter in found["chapters"]] == ["chapter", "chapter"]
        assert "Projections" in found["chapters"][0]["title"]
        assert [item["document"] for item in found["mentions"]] == ["bells.book.txt", "bells.book.txt"]
        listed = get(client, f"{TOWN}/entities", type="topic")["entities"]
        (event,) = [item for item in listed if item["id"] == found["id"]]
        assert event["texts"] == len(found["mentions"])
        assert event["mentions"] == sum(item["count"] for item in found["mentions"])


def test_a_shared_name_is_told_with_all_its_readings_and_what_decided(client: httpx.Client) -> None:
    added = {"type": "institution", "names": ["Academy of Geneva", "Geneva"]}
    assert client.post(f"{TOWN}/gazetteer/add", json=added).status_code == 200
    try:
        found = get(client, f"{TOWN}/entity", name="Geneva")
        ids = ["entity:location:Geneva", "entity:institution:Academy of Geneva"]
        assert (found["id"], [item["id"] for item in found["readings"]], found["others"]) == (ids[0], ids, ids[1:])
        (decision,) = found["mentions"][0]["decisions"]
        # 1/4 for a part of the canonical name, against 1
        assert decision == {
            "written": "Geneva", "times": 2, "shares": {ids[0]: 0.8, ids[1]: 0.2}, "decided_by": ["canonical name"],
        }  # fmt: skip
        assert [item["name"] for item in get(client, f"{TOWN}/entities", type="institution")["entities"]] == [
            "Academy of Geneva"
        ]
    finally:
        params = {"type": "institution", "name": "Academy of Geneva"}
        client.delete(f"{TOWN}/gazetteer/remove", params=params)


def test_the_mentions_of_an_entity_go_on_by_cursor(client: httpx.Client) -> None:
    whole = get(client, f"{TOWN}/entity", name="Geneva")["mentions"]
    first = get(client, f"{TOWN}/entity", name="Geneva", limit=2)
    rest = get(client, f"{TOWN}/entity", name="Geneva", limit=2, cursor=first["next_cursor"])
    assert first["mentions"] + rest["mentions"] == whole


def test_entities_are_listed_most_mentioned_first(client: httpx.Client) -> None:
    found = get(client, f"{TOWN}/entities")["entities"]
    assert [item["name"] for item in found] == ["Geneva", "John Calvin"]
    assert [item["texts"] for item in found] == [3, 2]
    assert [item["name"] for item in get(client, f"{TOWN}/entities", type="person")["entities"]] == ["John Calvin"]
    assert get(client, f"{TOWN}/entities", type="nothing")["entities"] == []


# -- the gazetteer and entries --------------------------------------------------------------------------


def test_the_gazetteer_shows_each_rows_origin(client: httpx.Client) -> None:
    rows = {row["id"]: row for row in get(client, f"{TOWN}/gazetteer")["entities"]}
    assert rows["entity:person:John Calvin"]["origin"] == "declared"
    assert rows["entity:location:Geneva"] == {
        "id": "entity:location:Geneva", "type": "location", "names": ["Geneva", "Genf"], "origin": "runtime",
        "shadowed": False,
    }  # fmt: skip


def test_an_entity_added_is_known_to_the_next_question(client: httpx.Client) -> None:
    added = client.post(f"{TOWN}/gazetteer/add", json={"type": "location", "name": "Noyon"})
    assert added.json()["id"] == "entity:location:Noyon"
    around = get(client, f"{TOWN}/graph", node="entity:location:Noyon")
    assert {"entry:calvin", "entry:noyon"} <= {node["id"] for node in around["nodes"]}
    removed = client.delete(f"{TOWN}/gazetteer/remove", params={"type": "location", "name": "Noyon"})
    assert removed.json() == {"removed": True}
    assert client.get(f"{TOWN}/graph", params={"node": "entity:location:Noyon"}).status_code == 404
    again = client.delete(f"{TOWN}/gazetteer/remove", params={"type": "location", "name": "Noyon"})
    assert again.json() == {"removed": False}


def test_a_declared_entity_cannot_be_changed(client: httpx.Client) -> None:
    body = {"type": "person", "names": ["John Calvin", "JC"]}
    assert problem(client.post(f"{TOWN}/gazetteer/add", json=body)) == (409, "entity-conflict")
    params = {"type": "person", "name": "John Calvin"}
    assert problem(client.delete(f"{TOWN}/gazetteer/remove", params=params)) == (409, "entity-conflict")


@pytest.mark.parametrize(
    "body",
    [{}, {"type": "x"}, {"type": "x", "names": []}, {"type": "x", "name": "a", "names": ["b"]},
     {"type": "x", "name": "a", "more": 1}, {"type": "", "name": "a"}, [], "text"],
)  # fmt: skip
def test_a_body_of_another_shape_is_refused(client: httpx.Client, body: Any) -> None:
    assert problem(client.post(f"{TOWN}/gazetteer/add", json=body)) == (422, "invalid-request")


def test_names_no_text_can_have_are_refused_with_the_librarys_code(client: httpx.Client) -> None:
    for body in ({"type": "x:y", "name": "a"}, {"type": "x", "name": "\0"}, {"type": "x", "name": "!!"}):
        assert problem(client.post(f"{TOWN}/gazetteer/add", json=body)) == (422, "invalid-id")


def test_a_body_that_is_no_json_is_refused(client: httpx.Client) -> None:
    headers = {"Content-Type": "application/json"}
    assert problem(client.post(f"{TOWN}/entries", content=b"{", headers=headers)) == (422, "invalid-request")
    for content in (b'{"entries": "\xff"}', b"[" * 50_000 + b"]" * 50_000, b'{"entries": ' + b"9" * 5000 + b"}"):
        response = client.post(f"{TOWN}/entries", content=content, headers=headers)
        assert problem(response) == (400, "bad-request")
        assert "JSON" in response.json()["detail"]


def test_entries_are_added_read_and_removed(client: httpx.Client) -> None:
    entry = {"id": "lake/of?geneva#1", "text": "A lake with swans.", "meta": {"page": 3}}
    assert client.post(f"{TOWN}/entries", json={"entries": [entry]}).json() == {"added": 1}
    url = f"{TOWN}/entries/lake%2Fof%3Fgeneva%231"
    assert get(client, url)["meta"] == {"page": 3}
    assert get(client, f"{TOWN}/search", q="swans")["hits"][0]["entry"] == entry["id"]
    assert client.delete(url).json() == {"removed": True}
    assert problem(client.delete(url)) == (404, "entry-not-found")
    assert problem(client.get(url)) == (404, "entry-not-found")
    assert get(client, f"{TOWN}/search", q="swans")["hits"] == []


@pytest.mark.parametrize("entry", ["a\nb", "\n", "a\r\n", "../up", "a//b/", "%2F", "\u2028", "\U0001f42b", "\x01"])
def test_an_entry_of_any_id_can_be_reached(client: httpx.Client, entry: str) -> None:
    url = f"{TOWN}/entries/{quote(entry, safe='')}"
    assert client.post(f"{TOWN}/entries", json={"entries": [{"id": entry, "text": "swans"}]}).status_code == 200
    assert get(client, url)["id"] == entry
    assert client.patch(url, json={"flagged": True}).json()["flagged"] is True
    assert client.delete(url).json() == {"removed": True}


def test_entries_are_added_all_or_none(client: httpx.Client) -> None:
    entries = [{"id": "good", "text": "swans"}, {"id": "bad\0", "text": "swans"}]
    assert problem(client.post(f"{TOWN}/entries", json={"entries": entries}))[0] == 422
    assert client.get(f"{TOWN}/entries/good").status_code == 404


def test_markup_comes_back_as_it_is_and_as_json(client: httpx.Client) -> None:
    response = client.get(f"{TOWN}/search", params={"q": "markup"})
    assert response.headers["content-type"] == "application/json"
    assert response.json()["hits"][0]["title"] == MARKUP


# -- the server itself ----------------------------------------------------------------------------------


def test_health_readiness_and_metrics(client: httpx.Client) -> None:
    assert get(client, "/healthz") == {"status": "ok"}
    assert get(client, "/readyz") == {"status": "ready"}
    get(client, f"{TOWN}/search", q="lake")
    metrics = client.get("/metrics")
    assert metrics.headers["content-type"].startswith("text/plain")
    assert 'route="/api/vectordb/{name}/search",status="200"' in metrics.text
    assert "town" not in metrics.text


def test_every_answer_carries_the_careful_headers(client: httpx.Client) -> None:
    for path in ("/api/vectordb", "/knowledge", "/knowledge/app.js", "/nothing"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "access-control-allow-origin" not in headers
    assert client.get("/api/vectordb").headers["cache-control"] == "no-store"


def test_the_openapi_document_has_typed_answers_and_one_form_of_problem(client: httpx.Client) -> None:
    document = get(client, "/openapi.json")
    search = document["paths"]["/api/vectordb/{name}/search"]["get"]
    assert search["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/SearchAnswer")
    for operations in document["paths"].values():
        for operation in operations.values():
            assert "application/problem+json" in operation["responses"]["default"]["content"]
    assert {"Problem", "InvalidField", "SearchHit"} <= set(document["components"]["schemas"])
