"""Editing files gives the graph that indexing from nothing gives, and costs what the edit touches."""

from __future__ import annotations

from code_driver import Project
from hypothesis import given, settings
from hypothesis import strategies as st

PATHS = ("app.py", "lib/__init__.py", "lib/tools.py", "lib/models.py", "other.py")
LINES = (
    "from lib import saw",
    "from lib.tools import saw as cut",
    "from lib.models import *",
    "from .tools import saw",
    "import lib.tools",
    "import other",
    "def saw(f=None):\n    f()\n    return f",
    "def saw(x):\n    return Board()",
    "class Board:\n    def plane(self):\n        self.saw()\n    def saw(self): pass",
    "class Plank(Board):\n    def saw(self): pass",
    "class Bench:\n    def __init__(self, tool): self.tool = tool\n    def work(self): self.tool.plane()",
    "saw(main)",
    "cut(saw)",
    "Bench(Board()).work()",
    "lib.tools.saw(other.main)()",
    "@saw\ndef main():\n    cut()\n    Board().plane()",
    "def main(thing):\n    thing.plane()\n    thing.saw()",
    "TABLE = {'a': saw}\nTABLE['a']()",
    "# saw and plane are mentioned here",
    "def broken(:",
)
RUST_PATHS = ("src/lib.rs", "src/a.rs", "src/b.rs")
RUST_LINES = (
    "mod a; mod b;",
    "use crate::a::{Saw, cut};",
    "pub struct Saw { teeth: Teeth }",
    "pub struct Teeth;",
    "impl Saw { pub fn new() -> Self { Saw { teeth: Teeth } } pub fn run(&self) { self.teeth.bite(); } }",
    "impl crate::a::Teeth { pub fn bite(&self) {} }",
    "pub trait Tool { fn run(&self); }",
    "impl Tool for Saw { fn run(&self) { cut(); } }",
    "pub fn cut() { Saw::new().run(); }",
    "fn main() { crate::a::cut(); super::b::cut(); }",
)


def contents(lines: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(lines), max_size=6).map(lambda chosen: "\n".join(chosen) + "\n")


def edits(paths: tuple[str, ...], lines: tuple[str, ...]) -> st.SearchStrategy[list[dict[str, str | None]]]:
    one = st.dictionaries(st.sampled_from(paths), st.none() | contents(lines), min_size=1, max_size=2)
    return st.lists(one, min_size=1, max_size=5)


@settings(max_examples=120, deadline=None)
@given(edits(PATHS, LINES) | edits(RUST_PATHS, RUST_LINES))
def test_random_edits_give_the_graph_of_indexing_from_nothing(steps: list[dict[str, str | None]]) -> None:
    edited = Project()
    state: dict[str, str] = {}
    for step in steps:
        edited.change(step)
        for path, content in step.items():
            state.pop(path, None)
            if content is not None:
                state[path] = content
    assert edited.canonical() == Project(state).canonical()


def test_every_fact_ends_at_nodes_that_some_document_declares() -> None:
    project = Project({path: "\n".join(LINES) for path in PATHS} | {path: "\n".join(RUST_LINES) for path in RUST_PATHS})
    nodes = project.nodes()
    edges = project.edges()
    assert len(edges) > 50
    assert {end for edge in edges.values() for end in (edge.source, edge.target)} <= nodes.keys()


def project() -> Project:
    return Project(
        {
            "lib.py": "def saw():\n    return 1\n\ndef drill():\n    return 2\n",
            "app.py": "from lib import saw\n\ndef main():\n    saw()\n",
            "other.py": "def unrelated(thing):\n    return thing.sand()\n",
        }
    )


def test_an_edit_inside_a_function_links_its_file_only() -> None:
    found = project()
    found.change({"lib.py": "# a new first line\ndef saw():\n    x = 5\n    return 1\n\ndef drill():\n    return 2\n"})
    assert found.linked == {"lib.py"}
    assert found.nodes()["symbol:lib.py::saw"].props["line"] == 2


def test_a_renamed_function_links_those_that_asked_for_it() -> None:
    found = project()
    found.change({"lib.py": "def hack():\n    return 1\n\ndef drill():\n    return 2\n"})
    assert found.linked == {"lib.py", "app.py"}
    assert found.calls() == set()


def test_a_new_file_links_those_whose_names_it_defines() -> None:
    found = project()
    found.change({"third.py": "class A:\n    def sand(self): pass\n"})
    assert found.linked == {"third.py", "other.py"}
    assert ("other.py::unrelated", "third.py::A.sand") in found.calls()
    found.change({"third.py": None})
    assert found.canonical() == project().canonical()


def test_another_class_with_the_same_attributes_takes_certainty_away() -> None:
    files = {
        "one.py": "class One:\n    def go_on(self): pass\n    def put_in(self): pass\n",
        "main.py": "def main(x):\n    x.go_on()\n    x.put_in()\n",
    }
    project = Project(files)
    assert {edge.props["confidence"] for edge in project.edges("calls").values()} == {"unique"}
    other = {"two.py": files["one.py"].replace("One", "Two")}
    project.change(other)
    assert project.linked == {"main.py", "two.py"}
    assert {edge.props["confidence"] for edge in project.edges("calls").values()} == {"ambiguous"}
    assert project.canonical() == Project(files | other).canonical()


def test_what_is_put_into_an_attribute_from_another_file_links_its_class_anew() -> None:
    files = {
        "stack.py": "class Stack:\n    def __init__(self): self.steps = []\n"
        "    def run(self):\n        for step in self.steps: step()\n",
        "build.py": "from stack import Stack\ndef f(): pass\ndef build(stack: Stack): pass\n",
    }
    project = Project(files)
    assert project.calls() == set()
    edited = {
        "build.py": files["build.py"]
        .replace("pass\n", "stack.steps.append(f)\n")
        .replace("stack.steps.append(f)", "pass", 1)
    }
    project.change(edited)
    assert project.calls() == {("stack.py::Stack.run", "build.py::f")}
    assert project.canonical() == Project(files | edited).canonical()
