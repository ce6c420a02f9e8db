"""Python: what calls, imports and inherits what, each expectation worked out by hand."""

from __future__ import annotations

from textwrap import dedent

import pytest
from code_driver import Project, calls_of


def test_a_name_in_a_comment_is_a_mention_and_no_call() -> None:
    project = Project(
        {
            "dates.py": dedent(
                '''
                def parse_date(text):
                    return text

                def handle_summary(rows):
                    # parse_date(rows) was tried here
                    return len(rows)

                def build_report(text):
                    """Unlike parse_date(text), this reports."""
                    return parse_date(text)

                def normalize_date(text):
                    return "parse_date(x)" + parse_date(text.strip())
                '''
            )
        }
    )
    callers = {source for source, target in project.calls() if target == "dates.py::parse_date"}
    assert callers == {"dates.py::build_report", "dates.py::normalize_date"}
    assert ("dates.py::handle_summary", "uses", "dates.py::parse_date") in project.edges("uses")


CASES: dict[str, tuple[str, set[str]]] = {
    "assigned names": ("def f(): pass\ng = f\ng()", {"<file> -> f"}),
    "the last assignment counts": (
        "def f(): pass\ndef g(): pass\nh = f\nh = g\nh()",
        {"<file> -> g"},
    ),
    "both branches count": (
        "def f(): pass\ndef g(): pass\nif len('x'):\n    h = f\nelse:\n    h = g\nh()",
        {"<file> -> f", "<file> -> g"},
    ),
    "a branch that returns leaves nothing behind": (
        """
        def f(): pass
        def g(): pass
        def main(flag):
            h = f
            if flag:
                h = g
                return
            h()
        """,
        {"main -> f"},
    ),
    "a loop sees what its end binds": (
        """
        def f(): pass
        def g(): pass
        h = f
        for _ in range(2):
            h()
            h = g
        """,
        {"<file> -> f", "<file> -> g"},
    ),
    "tuples are taken apart": ("def f(): pass\ndef g(): pass\na, (b, c) = 1, (f, g)\nb()", {"<file> -> f"}),
    "a starred name takes the middle": (
        "def f(): pass\ndef g(): pass\ndef h(): pass\na, *b, c = f, g, h\nb[0]()\nc()",
        {"<file> -> g", "<file> -> h"},
    ),
    "arguments by place and by name": (
        """
        def one(): pass
        def two(): pass
        def run(a, *, b):
            a()
            b()
        run(one, b=two)
        """,
        {"<file> -> run", "run -> one", "run -> two"},
    ),
    "defaults are handed over": (
        "def f(): pass\ndef run(a=f):\n    a()\nrun()",
        {"<file> -> run", "run -> f"},
    ),
    "each caller gets its own argument back": (
        """
        def f(): pass
        def g(): pass
        def same(x): return x
        def one(): same(f)()
        def two(): same(g)()
        """,
        {"one -> same", "one -> f", "two -> same", "two -> g"},
    ),
    "functions in dictionaries": (
        "def f(): pass\ndef g(): pass\nd = {'a': f, 'b': g}\nd['a']()",
        {"<file> -> f"},
    ),
    "an unknown key may be any": (
        "def f(): pass\ndef g(): pass\nd = {'a': f, 'b': g}\nd[input()]()",
        {"<file> -> f", "<file> -> g"},
    ),
    "a dictionary that is filled later": (
        "def f(): pass\nd = {}\nd['a'] = f\nd.get('a')()",
        {"<file> -> f"},
    ),
    "functions in lists": (
        "def f(): pass\ndef g(): pass\nxs = [f]\nxs.append(g)\nfor x in xs:\n    x()",
        {"<file> -> f", "<file> -> g"},
    ),
    "comprehensions call and hold": (
        "def f(x): return x\ndef g(): pass\n[h() for h in [g]]\nys = [f(y) for y in range(3)]",
        {"<file> -> f", "<file> -> g"},
    ),
    "what map and sorted are given is called": (
        "def f(x): pass\ndef g(x): pass\nmap(f, [1])\nsorted([2], key=g)",
        {"<file> -> f", "<file> -> g"},
    ),
    "starred arguments are each of them": (
        "def f(): pass\nfs = [f]\ndef run(a, b):\n    a()\nrun(*fs)\nmap(*fs)",
        {"<file> -> run", "<file> -> f", "run -> f"},
    ),
    "partial keeps its function": (
        "from functools import partial\ndef f(a, b): pass\np = partial(f, 1)\np(2)",
        {"<file> -> f"},
    ),
    "generators": (
        "def f(): pass\ndef gen():\n    yield f\nfor x in gen():\n    x()",
        {"<file> -> gen", "<file> -> f"},
    ),
    "a lambda's calls belong to the function around it": (
        "def f(): pass\ndef run():\n    g = lambda: f()\n    g()",
        {"run -> f"},
    ),
    "a decorated function is called through its wrapper": (
        """
        def deco(f):
            def wrapper():
                return f()
            return wrapper
        @deco
        def target(): pass
        def main(): target()
        """,
        {"<file> -> deco", "main -> deco.wrapper", "main -> target", "deco.wrapper -> target"},
    ),
    "a decorator with arguments": (
        """
        def retry(times):
            def deco(f):
                def wrapper(): return f()
                return wrapper
            return deco
        @retry(3)
        def target(): pass
        target()
        """,
        {
            "<file> -> retry",
            "<file> -> retry.deco",
            "<file> -> retry.deco.wrapper",
            "<file> -> target",
            "retry.deco.wrapper -> target",
        },
    ),
    "methods, self and inheritance": (
        """
        class Base:
            def greet(self): self.name()
            def name(self): pass
        class Child(Base):
            def run(self): self.greet()
        Child().run()
        """,
        {"Base.greet -> Base.name", "Child.run -> Base.greet", "<file> -> Child.run"},
    ),
    "super goes up, in the order of inheritance": (
        """
        class A:
            def __init__(self): pass
        class B(A):
            def __init__(self): super().__init__()
        class C(B): pass
        C()
        """,
        {"B.__init__ -> A.__init__", "<file> -> B.__init__"},
    ),
    "super never means what is below": (
        """
        class A:
            def f(self): pass
        class B(A):
            def f(self): super().f()
        class C(B):
            def f(self): pass
        """,
        {"B.f -> A.f"},
    ),
    "a diamond takes the nearest": (
        """
        class A:
            def f(self): pass
        class B(A): pass
        class C(A):
            def f(self): pass
        class D(B, C): pass
        D().f()
        """,
        {"<file> -> C.f"},
    ),
    "attributes that methods set": (
        """
        class Engine:
            def start(self): pass
        class Car:
            def __init__(self): self.engine = Engine()
            def drive(self): self.engine.start()
        """,
        {"Car.drive -> Engine.start"},
    ),
    "attributes handed to the constructor": (
        """
        class Engine:
            def start(self): pass
        class Car:
            def __init__(self, engine): self.engine = engine
            def drive(self): self.engine.start()
        Car(Engine())
        """,
        {"<file> -> Car.__init__", "Car.drive -> Engine.start"},
    ),
    "annotations are believed": (
        """
        class Store:
            def get(self): pass
        class Cache(dict):
            store: Store
            def load(self, other: "Store | None", more: list[Store]):
                self.store.get()
                for item in more: item.get()
        def read() -> Store: ...
        def main(): read().get()
        """,
        {"Cache.load -> Store.get", "main -> read", "main -> Store.get"},
    ),
    "isinstance narrows": (
        """
        class A:
            def go(self): pass
        def main(x):
            if isinstance(x, A): x.go()
        """,
        {"main -> A.go"},
    ),
    "class and static methods": (
        """
        class A:
            @classmethod
            def make(cls): return cls()
            @staticmethod
            def help(): pass
            def go(self): pass
        A.make().go()
        A.help()
        """,
        {"<file> -> A.make", "<file> -> A.go", "<file> -> A.help"},
    ),
    "a property is what it returns": (
        """
        class B:
            def go(self): pass
        class A:
            @property
            def b(self): return B()
        A().b.go()
        """,
        {"<file> -> B.go"},
    ),
    "with enters and leaves": (
        """
        class Lock:
            def __enter__(self): return self
            def __exit__(self, *a): pass
            def hold(self): pass
        with Lock() as lock: lock.hold()
        """,
        {"<file> -> Lock.__enter__", "<file> -> Lock.__exit__", "<file> -> Lock.hold"},
    ),
    "iterating calls the iterator": (
        """
        class Rows:
            def __iter__(self): return self
            def __next__(self): pass
        for row in Rows(): pass
        """,
        {"<file> -> Rows.__iter__", "<file> -> Rows.__next__"},
    ),
    "raising a class makes one": (
        "class Bad(Exception):\n    def __init__(self): pass\nraise Bad",
        {"<file> -> Bad.__init__"},
    ),
    "an abstract method is what the classes below make of it": (
        """
        class Shape:
            def area(self): raise NotImplementedError
            def show(self): self.area()
        class Square(Shape):
            def area(self): pass
        """,
        {"Shape.show -> Shape.area", "Shape.show -> Square.area"},
    ),
    "getattr with a known beginning": (
        """
        class Visitor:
            def visit(self, node): getattr(self, f"visit_{node}")()
            def visit_a(self): pass
            def visit_b(self): pass
            def other(self): pass
        """,
        {"Visitor.visit -> Visitor.visit_a", "Visitor.visit -> Visitor.visit_b"},
    ),
    "await gives what the coroutine returns": (
        """
        class A:
            async def go(self): pass
        async def make(): return A()
        async def main(): await (await make()).go()
        """,
        {"main -> make", "main -> A.go"},
    ),
    "a local name hides the function": ("def f(): pass\ndef g(f):\n    f()", set()),
    "a name in a definition is no call": ("def f():\n    def g(): pass\nclass h: pass", set()),
    "what is not from the project is not guessed": (
        "import os\nclass A:\n    def getcwd(self): pass\nos.getcwd()\n'x'.getcwd()",
        set(),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_calls_in_one_file(case: str) -> None:
    source, expected = CASES[case]
    assert calls_of(source) == expected


def test_calls_follow_imports_aliases_and_re_exports() -> None:
    project = Project(
        {
            "pkg/__init__.py": "from .api import connect as open_it\nfrom .models import *\n",
            "pkg/api.py": "from . import models\ndef connect(): return models.Link()\n",
            "pkg/models.py": "class Link:\n    def send(self): pass\n",
            "app.py": "import pkg\nfrom pkg import open_it\nfrom pkg.models import Link as L\n"
            "def main():\n    open_it().send()\n    pkg.Link().send()\n    L().send()\n",
        }
    )
    assert {target for source, target in project.calls() if source == "app.py::main"} == {
        "pkg/api.py::connect",
        "pkg/models.py::Link.send",
    }
    confidence = {edge.props["confidence"] for key, edge in project.edges("calls").items() if key[0] == "app.py::main"}
    assert confidence == {"import"}


def test_imports_are_edges_from_the_file_or_the_function_that_imports() -> None:
    project = Project(
        {
            "lib/tools.py": "def saw(): pass\ndef drill(): pass\n",
            "app.py": "import lib.tools\nfrom lib.tools import saw\ndef work():\n    from lib.tools import drill\n",
        }
    )
    assert set(project.edges("imports")) == {
        ("file:app.py", "imports", "file:lib/tools.py"),
        ("file:app.py", "imports", "lib/tools.py::saw"),
        ("app.py::work", "imports", "lib/tools.py::drill"),
    }


def test_a_source_folder_is_found_from_the_tests_beside_it() -> None:
    project = Project(
        {"src/box/__init__.py": "def lift(): pass\n", "tests/test_box.py": "import box\ndef test(): box.lift()\n"}
    )
    assert project.calls() == {("tests/test_box.py::test", "src/box/__init__.py::lift")}


def test_a_file_named_like_the_standard_library_is_not_taken_for_it() -> None:
    files = {"pkg/__init__.py": "", "pkg/json.py": "def loads(x): pass\n", "pkg/a.py": "import json\njson.loads('1')\n"}
    assert Project(files).calls() == set()


def test_an_ambiguous_call_keeps_its_candidates_and_splits_its_weight() -> None:
    project = Project(
        {
            "a.py": "class A:\n    def shine(self): pass\n",
            "b.py": "class B:\n    def shine(self): pass\n",
            "c.py": "def main(thing):\n    thing.shine()\n",
        }
    )
    edges = project.edges("calls")
    assert {key[2] for key in edges} == {"a.py::A.shine", "b.py::B.shine"}
    for edge in edges.values():
        assert edge.weight == 0.5
        assert edge.props["confidence"] == "ambiguous"
        assert edge.props["candidates"] == ["symbol:a.py::A.shine", "symbol:b.py::B.shine"]


def test_a_name_that_only_one_symbol_has_is_unique() -> None:
    project = Project(
        {"a.py": "class A:\n    def shine(self): pass\n", "c.py": "def main(thing):\n    thing.shine()\n"}
    )
    (edge,) = project.edges("calls").values()
    assert (edge.props["confidence"], edge.props["line"], edge.weight) == ("unique", 2, 1.0)


def test_a_method_that_subclasses_override_is_sure_and_its_overrides_are_not() -> None:
    project = Project(
        {"m.py": "class A:\n    def go(self): self.do()\n    def do(self): pass\nclass B(A):\n    def do(self): pass\n"}
    )
    found = {key[2]: edge.props["confidence"] for key, edge in project.edges("calls").items()}
    assert found == {"m.py::A.do": "exact", "m.py::B.do": "ambiguous"}


def test_what_an_abstract_method_or_a_beginning_may_mean_is_ambiguous() -> None:
    project = Project(
        {
            "m.py": dedent(
                """
                class Shape:
                    def area(self): raise NotImplementedError
                    def show(self, how):
                        self.area()
                        getattr(self, f"draw_{how}")()
                class Square(Shape):
                    def area(self): pass
                    def draw_big(self): pass
                class Circle(Shape):
                    def area(self): pass
                    def draw_small(self): pass
                """
            )
        }
    )
    found = {key[2].rpartition("::")[2]: (e.props["confidence"], e.weight) for key, e in project.edges("calls").items()}
    assert found == {
        "Shape.area": ("exact", 1.0),
        "Square.area": ("ambiguous", 0.5),
        "Circle.area": ("ambiguous", 0.5),
        "Square.draw_big": ("ambiguous", 0.5),
        "Circle.draw_small": ("ambiguous", 0.5),
    }


def test_a_mention_means_the_symbol_of_the_same_file_first() -> None:
    source = "def f(): pass\ndef g():\n    # f\n    pass\n"
    edges = Project({"a.py": source, "b.py": source}).edges("uses")
    assert {(key[0], key[2]) for key in edges} == {("a.py::g", "a.py::f"), ("b.py::g", "b.py::f")}


def test_inheritance_and_instances_are_edges_of_their_own() -> None:
    project = Project({"m.py": "class A: pass\nclass B(A): pass\ndef make(): return B()\n"})
    assert set(project.edges("inherits")) == {("m.py::B", "inherits", "m.py::A")}
    assert set(project.edges("instantiates")) == {("m.py::make", "instantiates", "m.py::B")}
    assert project.calls() == set()


def test_symbols_carry_file_lines_signature_and_docstring_entries() -> None:
    source = (
        '"""About it."""\nLIMIT = 3\n\n\n@cache\ndef area(w: int,\n         h: int) -> int:\n'
        '    """Of it."""\n    return w * h\n'
    )
    project = Project({"geo.py": source})
    node = project.nodes()["symbol:geo.py::area"]
    assert node.props == {
        "file": "geo.py",
        "line": 6,
        "end_line": 9,
        "language": "python",
        "qualified": "area",
        "signature": "def area(w: int, h: int) -> int",
    }
    assert node.entry is not None
    entry = next(entry for entry in project.entries() if entry.id == node.entry)
    assert (entry.start_line, entry.end_line, entry.title, entry.kind) == (5, 9, "area", "symbol")
    assert entry.text.startswith("@cache\ndef area")
    assert project.nodes()["symbol:geo.py::LIMIT"].kind == "constant"


def test_the_file_entry_holds_what_no_symbol_holds_and_its_imports() -> None:
    project = Project({"m.py": '"""Doc."""\nimport os\nfrom a.b import c\nX = os\ndef f():\n    pass\nprint(X)\n'})
    first = project.entries()[0]
    assert first.text == '"""Doc."""\nimport os\nfrom a.b import c\nX = os\nprint(X)'
    assert first.meta["imports"] == ["os", "a.b.c"]
    assert (first.kind, first.start_line, first.end_line) == ("file", 1, 7)


def test_only_telling_names_are_words_that_texts_are_linked_by() -> None:
    project = Project({"m.py": "class Cart:\n    def run(self): pass\nclass CartView: pass\ndef parse_date(): pass\n"})
    assert {entry.title: entry.names for entry in project.entries()} == {
        "m.py": ("m.py",),
        "Cart": (),
        "Cart.run": ("Cart.run",),
        "CartView": ("CartView",),
        "parse_date": ("parse_date",),
    }


def test_two_symbols_of_one_name_are_told_apart_by_line() -> None:
    project = Project({"m.py": "def f(): pass\n\ndef f():\n    g()\n\ndef g(): pass\n"})
    assert {node.id for node in project.nodes().values() if node.name == "f"} == {"symbol:m.py::f", "symbol:m.py::f#L3"}
    assert project.calls() == {("m.py::f#L3", "m.py::g")}


def test_long_functions_are_cut_at_lines_and_calls_stay_with_their_piece() -> None:
    body = "".join(
        f"    step_{number} = 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'\n" for number in range(120)
    )
    project = Project({"m.py": f"def f():\n{body}    g()\n\ndef g(): pass\n"})
    pieces = [entry for entry in project.entries() if entry.title == "f"]
    assert len(pieces) > 2
    assert all(len(entry.text) <= 2500 for entry in pieces)
    assert "\n".join(entry.text for entry in pieces) == f"def f():\n{body}    g()"
    fact = next(fact for fact in project.held["m.py"].links.facts if fact.kind == "calls")
    assert fact.entry == pieces[-1].id
