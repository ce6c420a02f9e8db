"""What a curator does over REST: proposals, evidence, shared names, what is shown; and how a question is linked."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest
from serve_server import READER, TOKENS, TOWN, WRITER, bearer, fill, get, problem, served, settings

from graphport import EdgeKey, Entry, open_knowledge_base
from graphport_serve.paging import Bounds
from graphport_serve.questions.evidence import find_evidence


@pytest.fixture
def client(tmp_path: Path) -> Generator[httpx.Client]:
    """A server of its own, as these tests change what it holds."""
    config = settings(tmp_path)
    config["vector_dbs"][0]["relations"] = {"co_occurs": 20}
    fill(config)
    with open_knowledge_base("town", config=config) as kb:
        kb.add([Entry("road", "The road to Noyon is longer than that to Basel.")])
    with served(config) as address, httpx.Client(base_url=address, timeout=30) as client:
        yield client


def names(client: httpx.Client, **params: Any) -> list[str]:
    return [item["name"] for item in get(client, f"{TOWN}/proposals", **params)["proposals"]]


def test_a_proposal_comes_with_counts_and_examples_and_adds_nothing(client: httpx.Client) -> None:
    (noyon,) = get(client, f"{TOWN}/proposals")["proposals"]
    assert noyon == {
        "name": "Noyon", "type": "", "count": 2, "passages": 2,
        "examples": [
            {"entry": "calvin", "text": "John Calvin was born in Noyon and lived in Geneva."},
            {"entry": "road", "text": "The road to Noyon is longer than that to Basel."},
        ],
    }  # fmt: skip
    assert {row["names"][0] for row in get(client, f"{TOWN}/gazetteer")["entities"]} == {"John Calvin", "Geneva"}
    assert names(client, at_least=3) == []
    assert problem(client.get(f"{TOWN}/proposals", params={"proposer": "oracle"})) == (422, "invalid-query")


def test_accepted_names_are_entities_for_the_next_question_and_proposed_no_more(client: httpx.Client) -> None:
    body = {"type": "location", "names": ["Noyon", "Geneva"]}
    answer = client.post(f"{TOWN}/proposals/accept", json=body).json()
    assert answer == {"added": ["entity:location:Noyon"], "known": ["entity:location:Geneva"], "declared": []}
    assert get(client, f"{TOWN}/entity", name="Noyon")["texts"] == 3
    assert names(client) == []
    declared = client.post(f"{TOWN}/proposals/accept", json={"type": "person", "names": ["John Calvin"]}).json()
    assert declared == {"added": [], "known": [], "declared": ["entity:person:John Calvin"]}


def test_one_bad_name_accepts_and_rejects_none(client: httpx.Client) -> None:
    bad = ["Noyon", "..."]
    assert problem(client.post(f"{TOWN}/proposals/accept", json={"type": "x", "names": bad})) == (422, "invalid-id")
    assert problem(client.post(f"{TOWN}/proposals/reject", json={"names": bad})) == (422, "invalid-id")
    assert names(client) == ["Noyon"]


def test_rejected_names_stay_away_until_they_are_reconsidered(client: httpx.Client) -> None:
    assert client.post(f"{TOWN}/proposals/reject", json={"names": ["NOYON", "Bell"]}).json() == {"rejected": 2}
    assert names(client) == []
    first = get(client, f"{TOWN}/proposals/rejected", limit=1)
    rest = get(client, f"{TOWN}/proposals/rejected", limit=1, cursor=first["next_cursor"])
    assert (first["names"] + rest["names"], rest["next_cursor"]) == (["Bell", "NOYON"], None)
    back = client.delete(f"{TOWN}/proposals/rejected", params={"name": "Noyon"})
    assert back.json() == {"reconsidered": 1}
    assert names(client) == ["Noyon"]


def test_proposals_go_on_by_their_cursor(client: httpx.Client) -> None:
    whole = names(client, at_least=1)
    assert len(whole) > 1
    first = get(client, f"{TOWN}/proposals", at_least=1, limit=1)
    rest = get(client, f"{TOWN}/proposals", at_least=1, cursor=first["next_cursor"])
    assert [item["name"] for item in first["proposals"] + rest["proposals"]] == whole


def test_whoever_only_reads_cannot_make_a_costly_proposer_read(tmp_path: Path) -> None:
    fill(settings(tmp_path))
    with served(settings(tmp_path, tokens=TOKENS)) as address, httpx.Client(base_url=address, timeout=30) as client:
        assert client.get(f"{TOWN}/proposals", headers=bearer(READER)).status_code == 200
        asked = {"proposer": "costly"}
        assert problem(client.get(f"{TOWN}/proposals", params=asked, headers=bearer(READER))) == (403, "forbidden")
        assert problem(client.get(f"{TOWN}/proposals", params=asked, headers=bearer(WRITER))) == (422, "invalid-query")


def test_an_edge_is_shown_with_the_texts_that_say_so(client: httpx.Client) -> None:
    edge = {"source": "entity:location:Geneva", "target": "entity:person:John Calvin", "kind": "co_occurs"}
    assert edge in [
        {key: found[key] for key in edge} for found in get(client, f"{TOWN}/graph", kind="co_occurs")["edges"]
    ]
    found = get(client, f"{TOWN}/evidence", **edge)
    assert {key: found[key] for key in edge} == edge
    assert [(item["entry"], item["title"]) for item in found["passages"]] == [
        ("calvin", "John Calvin"), ("geneva", "Geneva"),
    ]  # fmt: skip
    first = get(client, f"{TOWN}/evidence", **edge, limit=1)
    rest = get(client, f"{TOWN}/evidence", **edge, limit=1, cursor=first["next_cursor"])
    assert first["passages"] + rest["passages"] == found["passages"]
    client.patch(f"{TOWN}/entries/geneva", json={"flagged": True})
    assert [item["entry"] for item in get(client, f"{TOWN}/evidence", **edge)["passages"]] == ["calvin"]
    absent = {**edge, "kind": "wrote"}
    assert problem(client.get(f"{TOWN}/evidence", params=absent)) == (404, "missing-node")


def test_names_that_several_entities_share_are_listed(client: httpx.Client) -> None:
    assert get(client, f"{TOWN}/gazetteer/check")["names"] == []
    client.post(f"{TOWN}/gazetteer/add", json={"type": "institution", "names": ["Academy", "Geneva"]})
    assert get(client, f"{TOWN}/gazetteer/check")["names"] == [
        {"name": "Geneva", "ids": ["entity:institution:Academy", "entity:location:Geneva"], "across_types": True}
    ]


def test_an_entry_is_hidden_shown_and_left_to_expire(client: httpx.Client) -> None:
    def found() -> list[str]:
        return [hit["entry"] for hit in get(client, f"{TOWN}/search", q="zyzzyva")["hits"]]

    def change(**visibility: Any) -> tuple[bool, float | None]:
        answer = client.patch(f"{TOWN}/entries/noyon", json=visibility).json()
        return answer["flagged"], answer["valid_to"]

    assert change(flagged=True) == (True, None)
    assert found() == []
    assert change(valid_to=1.5) == (True, 1.5)
    assert change(flagged=False) == (False, 1.5)
    assert found() == []
    assert change(valid_to=None) == (False, None)
    assert found() == ["noyon"]
    assert change() == (False, None)
    assert problem(client.patch(f"{TOWN}/entries/none", json={"flagged": True})) == (404, "entry-not-found")
    assert problem(client.patch(f"{TOWN}/entries/none", json={})) == (404, "entry-not-found")
    assert problem(client.patch(f"{TOWN}/entries/noyon", json={"text": "x"})) == (422, "invalid-request")


def test_a_question_finds_a_name_it_misspells_with_a_linker_for_that(client: httpx.Client) -> None:
    def links(**params: Any) -> list[tuple[str, str]]:
        hits = get(client, f"{TOWN}/search", q="lake of Genefa", graph=True, explain=True, **params)["hits"]
        return [(link["written"], link["linker"]) for link in hits[0]["why"]["links"]]

    assert links() == []
    assert links(linker=["containment", "fuzzy"]) == [("Genefa", "fuzzy")]
    asked = {"q": "x", "linker": ["fuzzy", "fuzzy"]}
    assert problem(client.get(f"{TOWN}/search", params=asked)) == (422, "invalid-query")
    assert problem(client.get(f"{TOWN}/search", params={"q": "x", "linker": "magic"})) == (422, "invalid-request")
    assert problem(client.get(f"{TOWN}/search", params={"q": "x", "graph": True, "linker": "embedding"})) == (
        409, "unsupported",
    )  # fmt: skip


def test_a_report_takes_linkers_too(client: httpx.Client) -> None:
    assert get(client, f"{TOWN}/report", q="lake of Genefa", linker="fuzzy")["cites"]
    assert problem(client.get(f"{TOWN}/report", params={"q": "x", "linker": "magic"})) == (422, "invalid-request")


def test_evidence_for_a_reader_with_little_room_is_cut_and_says_so(tmp_path: Path) -> None:
    fill(settings(tmp_path))
    edge = EdgeKey("entry:calvin", "entity:location:Geneva", "mentions")
    with open_knowledge_base("town", config=settings(tmp_path)) as kb:
        for room, text, cut in ((11, "John Calvin", True), (50, kb.get(["calvin"])["calvin"].text, False)):
            (passage,) = find_evidence(kb, edge, bounds=Bounds(20), text=room).passages
            assert (passage.text, passage.text_cut) == (text, cut)
