"""The code tools, on every backend that runs in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from code_driver import Project

from graphport import Edge, GraphStorage, Node, open_storage
from graphport.builders import Entry
from graphport.errors import InvalidQueryError
from graphport_code import (
    SymbolNotFoundError,
    find_callers,
    find_symbol,
    get_call_graph,
    is_code_entry,
)

FILES = {
    "shop/dates.py": dedent(
        """
        def parse_date(text):
            return text

        def handle_summary(rows):
            # parse_date is not needed here
            return rows

        def build_report(text):
            return parse_date(text)

        def normalize_date(text):
            return parse_date(text) + build_report(text)

        def never_called():
            return 1
        """
    ),
    "shop/cart.py": dedent(
        """
        from shop.dates import build_report

        class Cart:
            def __init__(self, items):
                self.items = items

            def report(self):
                # see never_called
                return build_report(self.items)

        class CartView(Cart):
            pass

        def make_cart():
            return CartView([])
        """
    ),
}


@pytest.fixture(params=["memory", "kuzu"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GraphStorage]:
    options = {} if request.param == "memory" else {"path": tmp_path / "graph.kuzu"}
    with open_storage(request.param, **options) as opened:
        yield Project(FILES).fill(opened)


def test_a_symbol_is_found_by_name_with_file_and_line(storage: GraphStorage) -> None:
    (found,) = find_symbol(storage, "parse_date")
    assert (found.id, found.kind, found.file, found.line, found.end_line, found.match) == (
        "symbol:shop/dates.py::parse_date",
        "function",
        "shop/dates.py",
        2,
        3,
        "exact",
    )
    assert (found.signature, found.language) == ("def parse_date(text)", "python")


@pytest.mark.parametrize(
    "name",
    [
        "Cart.report",
        "Cart::report",
        "report",
        "shop/cart.py::Cart.report",
        "symbol:shop/cart.py::Cart.report",
        "shop.cart.Cart.report",
        "cart.Cart.report",
        "indexed_folder.shop.cart.Cart.report",
        "shop.Cart.report",
    ],
)
def test_qualified_names_paths_and_ids_lead_to_the_same_symbol(storage: GraphStorage, name: str) -> None:
    assert [symbol.qualified for symbol in find_symbol(storage, name)] == ["Cart.report"]


def test_exact_names_come_before_other_cases_and_those_before_beginnings(storage: GraphStorage) -> None:
    assert [(item.qualified, item.match) for item in find_symbol(storage, "Cart")] == [("Cart", "exact")]
    assert [(item.qualified, item.match) for item in find_symbol(storage, "CART")] == [("Cart", "case-insensitive")]
    assert [(item.qualified, item.match) for item in find_symbol(storage, "cartv")] == [("CartView", "prefix")]
    assert find_symbol(storage, "nothing_like_it") == []


def test_file_and_kind_narrow_a_search(storage: GraphStorage) -> None:
    assert [item.name for item in find_symbol(storage, "b", file="dates.py")] == ["build_report"]
    assert find_symbol(storage, "build_report", file="cart.py") == []
    assert [item.name for item in find_symbol(storage, "cart", kind="class")] == ["Cart"]
    assert len(find_symbol(storage, "n", limit=1)) == 1


def test_callers_are_those_that_call_not_those_that_mention(storage: GraphStorage) -> None:
    found = find_callers(storage, "parse_date")
    assert found.precise
    assert [(caller.symbol.name, caller.line, caller.via, caller.confidence) for caller in found.callers] == [
        ("build_report", 10, "calls", "exact"),
        ("normalize_date", 13, "calls", "exact"),
    ]
    assert all(caller.file == "shop/dates.py" for caller in found.callers)


def test_mentions_are_told_only_of_a_symbol_that_nobody_calls(storage: GraphStorage) -> None:
    found = find_callers(storage, "never_called")
    assert not found.precise
    assert [(caller.symbol.qualified, caller.via) for caller in found.callers] == [("Cart.report", "uses")]


def test_callers_of_a_class_are_those_that_make_one(storage: GraphStorage) -> None:
    found = find_callers(storage, "CartView")
    assert [(caller.symbol.name, caller.via, caller.line) for caller in found.callers] == [
        ("make_cart", "instantiates", 16)
    ]
    assert [caller.symbol.name for caller in find_callers(storage, "Cart").callers] == ["make_cart"]  # its __init__


def test_a_call_graph_goes_as_far_as_asked_and_says_what_it_cut(storage: GraphStorage) -> None:
    near = get_call_graph(storage, "normalize_date", depth=1)
    assert [(node.symbol.name, node.depth) for node in near.nodes] == [
        ("normalize_date", 0),
        ("build_report", 1),
        ("parse_date", 1),
    ]
    assert {(edge.source.partition("::")[2], edge.target.partition("::")[2]) for edge in near.edges} == {
        ("normalize_date", "build_report"),
        ("normalize_date", "parse_date"),
        ("build_report", "parse_date"),
    }
    assert not near.truncated
    shallow = get_call_graph(storage, "normalize_date", depth=0)
    assert (shallow.cut_by_depth, shallow.cut_by_nodes, len(shallow.nodes)) == (True, False, 1)
    small = get_call_graph(storage, "normalize_date", max_nodes=2)
    assert (small.cut_by_nodes, len(small.nodes)) == (True, 2)


def test_a_call_graph_can_be_walked_against_the_calls(storage: GraphStorage) -> None:
    found = get_call_graph(storage, "parse_date", direction="in", depth=2)
    assert {node.symbol.name for node in found.nodes} == {"parse_date", "build_report", "normalize_date", "report"}
    assert all(edge.file and edge.line for edge in found.edges)


def test_bounds_are_clamped_and_nonsense_is_refused(storage: GraphStorage) -> None:
    assert get_call_graph(storage, "parse_date", depth=10**6, max_nodes=10**9).nodes
    for bad in ({"depth": -1}, {"max_nodes": 0}):
        with pytest.raises(InvalidQueryError):
            get_call_graph(storage, "parse_date", **bad)  # type: ignore[arg-type] # mypy cannot see the keywords
    with pytest.raises(InvalidQueryError):
        find_symbol(storage, " ")
    with pytest.raises(InvalidQueryError, match="klass"):
        find_symbol(storage, "Cart", kind="klass")


def test_an_unknown_symbol_is_an_error_that_names_what_is_near(storage: GraphStorage) -> None:
    with pytest.raises(SymbolNotFoundError, match="parse_date"):
        find_callers(storage, "parse_d")
    with pytest.raises(SymbolNotFoundError, match="is the code indexed"):
        get_call_graph(storage, "zzz")


def test_a_name_that_several_symbols_bear_gives_the_callers_of_each() -> None:
    project = Project({"a.py": "def f(): pass\nf()\n", "b.py": "def f(): pass\ndef g(): f()\n"})
    found = find_callers(project.fill(open_storage("memory")), "f")
    assert len(found.targets) == 2
    assert [(caller.symbol.id, caller.target) for caller in found.callers] == [
        ("file:a.py", "symbol:a.py::f"),
        ("symbol:b.py::g", "symbol:b.py::f"),
    ]


def test_a_module_before_a_name_says_which_one_is_meant() -> None:
    source = "class Model:\n    def save(self): pass\n"
    files = {"db/models/base.py": source, "forms/models.py": source}
    storage = Project(files).fill(open_storage("memory"))
    named = ("db.models.base.Model.save", "forms.models.Model.save", "db.models.Model.save", "other.Model.save")
    found = {name: [symbol.file for symbol in find_symbol(storage, name)] for name in named}
    assert found == {
        "db.models.base.Model.save": ["db/models/base.py"],
        "forms.models.Model.save": ["forms/models.py"],
        "db.models.Model.save": ["db/models/base.py"],
        "other.Model.save": [],
    }


def test_ambiguous_callers_say_what_else_may_be_meant() -> None:
    files = {
        "a.py": "class A:\n    def shine(self): pass\n",
        "b.py": "class B:\n    def shine(self): pass\n",
        "c.py": "def main(x): x.shine()\n",
    }
    (caller,) = find_callers(Project(files).fill(open_storage("memory")), "A.shine").callers
    assert (caller.confidence, len(caller.candidates)) == ("ambiguous", 2)


def test_nodes_of_other_builders_are_no_symbols() -> None:
    storage = open_storage("memory")
    storage.upsert_nodes(
        [Node("heading:x", "class", "Cart"), Node("symbol:a.py::f", "function", "f", None, {"language": "python"})]
    )
    storage.upsert_edges([Edge("heading:x", "symbol:a.py::f", "uses")])
    assert find_symbol(storage, "Cart") == []
    assert [item.name for item in find_symbol(storage, "f")] == ["f"]


def test_code_entries_are_told_from_prose() -> None:
    (file, *_), prose = Project(FILES).entries(), Entry("p", "text", kind="passage")
    assert is_code_entry(file)
    assert not is_code_entry(prose)
