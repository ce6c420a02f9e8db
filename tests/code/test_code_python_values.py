"""Python: calls through values that have to be followed first, each expectation worked out by hand."""

from __future__ import annotations

from textwrap import dedent

import pytest
from code_driver import Project, calls_of

CASES: dict[str, tuple[str, set[str]]] = {
    "an object's class makes another one": (
        """
        class A:
            def __init__(self): pass
            def copy(self): return self.__class__()
        """,
        {"A.copy -> A.__init__"},
    ),
    "a cast to a class": (
        """
        import typing as t
        class A:
            def run(self): pass
        def main(x): t.cast("A", x).run()
        """,
        {"main -> A.run"},
    ),
    "a cast to anything that can be called leaves the function": (
        """
        from typing import Any, Callable, cast
        def f(): pass
        def main(): cast(Callable[..., Any], f)()
        """,
        {"main -> f"},
    ),
    "a bound type variable": (
        """
        from typing import TypeVar
        T = TypeVar("T", bound="A")
        class A:
            def __init__(self): pass
            def run(self): pass
        def use(x: T) -> T:
            x.run()
            return x
        def make(of: type[T]) -> T: return of()
        """,
        {"use -> A.run", "make -> A.__init__"},
    ),
    "a decorator whose type variable says nothing": (
        """
        from functools import update_wrapper
        from typing import Any, Callable, TypeVar, cast
        F = TypeVar("F", bound=Callable[..., Any])
        def twice(f: F) -> F:
            def new_func(x):
                return f(x) + f(x)
            return update_wrapper(cast(F, new_func), f)
        @twice
        def double(x): return x
        def main(): double(1)
        """,
        {"<file> -> twice", "twice.new_func -> double", "main -> twice.new_func", "main -> double"},
    ),
    "the only class with the attributes that are used": (
        """
        class Renderer:
            def register(self, name): pass
        class Parser:
            def __init__(self): self.renderer = Renderer()
            def parse(self): pass
        class Other:
            def parse(self): pass
            def register(self): pass
        def plugin(md):
            md.parse()
            md.renderer.register("x")
        """,
        {"plugin -> Parser.parse", "plugin -> Renderer.register"},
    ),
    "of two classes with those attributes neither is meant for sure": (
        """
        class A:
            def read_all(self): pass
            def close_all(self): pass
        class B(A):
            def close_all(self): pass
        class C:
            def read_all(self): pass
        def main(x): x.read_all()
        def both(x):
            x.read_all()
            x.close_all()
        """,
        {"main -> A.read_all", "main -> C.read_all"}
        | {"both -> A.read_all", "both -> A.close_all", "both -> B.close_all"},
    ),
    "a name bound anew or narrowed tells nothing of the parameter": (
        """
        class A:
            def first(self): pass
            def again(self): pass
        class B:
            def again(self): pass
            def other(self): pass
        def main(x):
            if isinstance(x, A):
                x.first()
            x.other()
            x.again()
        """,
        {"main -> A.first", "main -> B.other", "main -> B.again"},
    ),
    "what is put into an attribute from outside": (
        """
        class Stack:
            def __init__(self): self.filters = []
            def run(self):
                for each in self.filters: each.process()
        class Strip:
            def process(self): pass
        class Unused:
            def process(self): pass
        class Queue:
            def __init__(self): self.filters = []
        def build(stack: Stack, queue: Queue):
            stack.filters.append(Strip())
            queue.filters.append(Unused())
        """,
        {"Stack.run -> Strip.process"},
    ),
    "an attribute set on an object from outside": (
        """
        class Option:
            def call(self): self.callback()
        def f(): pass
        def main():
            option = Option()
            option.callback = f
        """,
        {"Option.call -> f"},
    ),
    "what the language iterates over": (
        """
        class Bag:
            def __iter__(self): return iter([])
        def main(): return list(Bag()), ", ".join(Bag()), sum(Bag())
        """,
        {"main -> Bag.__iter__"},
    ),
    "a function that a pattern calls": (
        """
        import re
        PATTERN = re.compile("a")
        def upper(match): return "A"
        def main(text): return PATTERN.sub(upper, text)
        """,
        {"main -> upper"},
    ),
    "what a class finds beside it where it is mixed in": (
        """
        class Base:
            def __init__(self): pass
            def render(self): pass
        class Mixin:
            def __init__(self): super().__init__()
            def page(self): self.render()
        class Other:
            def render(self): pass
        class Whole(Mixin, Base): pass
        """,
        {"Mixin.__init__ -> Base.__init__", "Mixin.page -> Base.render"},
    ),
    "a method that comes first by another base": (
        """
        class Tokens:
            def name(self): return self.alias()
            def alias(self): pass
        class Aliased:
            def alias(self): pass
        class Identifier(Aliased, Tokens): pass
        """,
        {"Tokens.name -> Tokens.alias", "Tokens.name -> Aliased.alias"},
    ),
    "a function in the place of a method gets its object": (
        """
        def keep(f):
            def new(self, value): return value
            return new
        class A:
            @keep
            def give(self, value): pass
        def g(): pass
        def main(): A().give(g)()
        """,
        {"A -> keep", "main -> keep.new", "main -> A.give", "main -> g"},
    ),
    "a static method made of a function does not": (
        """
        def same(value): return value
        class A:
            both = staticmethod(same)
        def g(): pass
        def main(): A().both(g)()
        """,
        {"main -> same", "main -> g"},
    ),
    "a callback that is passed on by keyword": (
        """
        class Base:
            def __init__(self, callback=None): self.callback = callback
            def run(self): self.callback()
        class Option(Base):
            def __init__(self, **rest): super().__init__(**rest)
        def g(): pass
        def main(): Option(callback=g)
        """,
        {"Option.__init__ -> Base.__init__", "main -> Option.__init__", "Base.run -> g"},
    ),
    "what is returned says more than a protocol": (
        """
        from typing import Protocol
        class Runs(Protocol):
            def __call__(self): ...
        def f(): pass
        def find() -> Runs | None: return f
        def main(): find()()
        """,
        {"main -> find", "main -> f"},
    ),
}


@pytest.mark.parametrize("source, expected", CASES.values(), ids=CASES)
def test_calls(source: str, expected: set[str]) -> None:
    assert calls_of(source) == expected


def _edges(source: str, caller: str) -> dict[str, tuple[str, float]]:
    """Confidence and weight of a caller's calls, by the callee's qualified name."""
    edges = Project({"m.py": dedent(source)}).edges("calls")
    return {
        target.partition("::")[2]: (edge.props["confidence"], round(edge.weight, 3))
        for (source_node, _, target), edge in edges.items()
        if source_node == f"m.py::{caller}"
    }


def test_a_method_that_ten_classes_override_may_run_in_any_of_them() -> None:
    classes = "".join(f"class C{number}(Base):\n    def run(self): pass\n" for number in range(10))
    source = f"class Base:\n    def run(self): pass\n{classes}def main(x: Base): x.run()\n"
    found = _edges(source, "main")
    assert found.pop("Base.run") == ("exact", 1.0)
    assert found == {f"C{number}.run": ("ambiguous", 0.091) for number in range(10)}


def test_a_module_may_be_imported_by_a_string() -> None:
    source = """
    from importlib import import_module
    KNOWN = {"a": "plugins.first.run", "b": "absent.module.run"}
    def main(): getattr(import_module("plugins.first"), "run")()
    def split(name):
        module, _, attribute = KNOWN[name].rpartition(".")
        getattr(import_module(module), attribute)()
    """
    files = {
        "main.py": dedent(source),
        "plugins/__init__.py": "",
        "plugins/first.py": "def run(): pass\n",
    }
    assert Project(files).calls() == {
        ("main.py::main", "plugins/first.py::run"),
        ("main.py::split", "plugins/first.py::run"),
    }


def test_a_package_may_import_by_its_name_though_its_own_folder_was_indexed() -> None:
    files = {
        "__init__.py": "VERSION = 1\n",
        "template.py": "def render(): pass\n",
        "app.py": "from shop import template\nfrom json import template as other\ndef main():\n"
        "    template.render()\n    other.render()\n",
    }
    edges = Project(files).edges("calls")
    assert {(key[0], key[2]): edge.props["line"] for key, edge in edges.items()} == {
        ("app.py::main", "template.py::render"): 4
    }


def test_what_only_use_tells_is_no_better_than_a_unique_name() -> None:
    source = """
    class Part:
        def put(self): pass
    class Whole:
        def __init__(self): self.part = Part()
        def go_on(self): pass
        def put(self): pass
    def main(x):
        x.go_on()
        x.part.put()
    """
    assert _edges(source, "main") == {"Whole.go_on": ("unique", 1.0), "Part.put": ("unique", 1.0)}


def test_of_a_long_table_of_functions_any_may_be_meant() -> None:
    functions = "".join(f"def f{number}(): pass\n" for number in range(40))
    table = ", ".join(f"'{number}': f{number}" for number in range(40))
    found = _edges(f"{functions}TABLE = {{{table}}}\ndef main(key): TABLE[key]()\n", "main")
    assert found == {f"f{number}": ("ambiguous", 0.025) for number in range(40)}


def test_what_a_guessed_method_replaced_is_guessed_too() -> None:
    source = """
    def noisy(f):
        def new(self): f(self)
        return new
    class Visitor:
        def visit(self, kind): getattr(self, f"visit_{kind}")()
        @noisy
        def visit_a(self): pass
        def visit_b(self): pass
    """
    assert {confidence for confidence, _ in _edges(source, "Visitor.visit").values()} == {"ambiguous"}
