"""Files as they are found: broken, huge, nested, in any encoding."""

from __future__ import annotations

import time

import pytest
from code_driver import Project
from hypothesis import given, settings
from hypothesis import strategies as st

from graphport.builders import Document
from graphport.model import check_props, check_text
from graphport_code import CodeBuilder
from graphport_code import reading as reading_module
from graphport_code.languages import language_named
from graphport_code.source import Source
from graphport_code.treesitter import parse

SUFFIXES = ("py", "rs", "ts", "tsx", "js", "go", "java", "c", "cpp", "rb", "sql")


def test_a_broken_function_does_not_take_the_others_along() -> None:
    project = Project(
        {
            "m.py": "def before():\n    helper()\n\ndef broken(:\n    x = = 1\n    helper()\n\n"
            "def after():\n    helper()\n\ndef helper():\n    pass\n"
        }
    )
    assert project.calls() == {("m.py::before", "m.py::helper"), ("m.py::after", "m.py::helper")}
    (warning,) = project.warnings("m.py")
    assert warning == "syntax error in line 4: left out"
    assert project.nodes()["symbol:m.py::after"].props["line"] == 8


@pytest.mark.parametrize(
    "broken",
    [
        "def f():\n",
        "if True:\nx = 1\n",
        "  stray = 1\n",
        "x = (1,\n",
        "print 'python 2'\n",
        "x = '''never closed\n",
        "class A:\n    def f(self):\n  bad\n",
        "f(\n  a b\n)\n",
        "x = 1 +\n",
        ")\n",
    ],
)
def test_any_broken_statement_leaves_the_good_function_before_it(broken: str) -> None:
    project = Project({"m.py": f"def good():\n    helper()\n\ndef helper():\n    pass\n\n{broken}"})
    assert ("m.py::good", "m.py::helper") in project.calls()
    assert len(project.warnings("m.py")) == 1


def test_a_file_of_nothing_but_errors_is_still_text() -> None:
    project = Project({"m.py": "this is ? not ! python at : all\n" * 300})
    assert project.warnings("m.py") == ["cannot be parsed: read by its surface only"]
    assert sum(len(entry.text) for entry in project.entries()) > 9000


def test_a_function_without_a_body_keeps_its_place() -> None:
    project = Project({"m.py": "class A:\n    def f(self):\n\ndef g():\n    A().f()\n"})
    assert project.calls() == {("m.py::g", "m.py::A.f")}


@pytest.mark.parametrize(
    "name,source",
    [
        ("m.rs", "fn good() { helper(); }\nfn bad( { \nfn helper() {}\n"),
        ("m.ts", "function good() { helper(); }\nfunction helper() {}\nclass { ] x\n"),
        ("m.go", "package m\nfunc good() { helper() }\nfunc helper() {}\nfunc bad( {\n"),
        ("m.java", "class A { void good() { helper(); } void helper() {} void bad( { }\n"),
    ],
)
def test_tree_sitter_reads_around_errors_and_names_the_line(name: str, source: str) -> None:
    project = Project({name: source})
    assert any(target.endswith("helper") for _, target in project.calls())
    (warning,) = project.warnings(name)
    assert warning.startswith("syntax error in line ")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_megabyte_in_one_line_is_cut_short_and_named(suffix: str) -> None:
    started = time.monotonic()
    project = Project({f"big.{suffix}": "function f(){return g(1)};" * 40_000})
    assert project.warnings(f"big.{suffix}") == ["minified: only its beginning is indexed"]
    assert sum(len(entry.text) for entry in project.entries()) <= 2500
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(
    "suffix,source",
    [
        ("py", "x = " + "(" * 5000 + ")" * 5000 + "\ndef f(): pass\n"),
        ("py", "x = " + "not " * 3000 + "True\ndef f(): pass\n"),
        ("py", "x = " + "-" * 3000 + "1\ndef f(): pass\n"),
        ("py", "x = " + " + ".join(["f()"] * 3000) + "\ndef f(): pass\n"),
        ("py", "x = a" + ".b()" * 3000 + "\ndef f(): pass\n"),
        ("py", "if a:\n    pass\n" + "elif b:\n    f()\n" * 2000 + "def f(): pass\n"),
        ("py", "".join(" " * depth + "if x:\n" for depth in range(90)) + " " * 90 + "f()\ndef f(): pass\n"),
        ("py", "x = " + "[" * 150 + "f()" + "]" * 150 + "\ndef f(): pass\n"),
        ("js", "x = " + "(" * 5000 + ")" * 5000 + ";\nfunction f() {}\n"),
        ("js", "x = a" + ".b()" * 3000 + ";\nfunction f() {}\n"),
        ("js", "x = " + " + ".join(["f()"] * 3000) + ";\nfunction f() {}\n"),
        ("ts", "let x: " + "Array<" * 2000 + "A" + ">" * 2000 + ";\nfunction f() {}\n"),
        ("rs", "fn f() { let x = " + "{" * 5000 + "f()" + "}" * 5000 + "; }\n"),
        ("go", "package m\nfunc f() { x := " + "(" * 5000 + "f()" + ")" * 5000 + " }\n"),
        ("java", "class A { void f() { " + "if (x) {" * 2000 + "f();" + "}" * 2000 + " } }\n"),
        ("c", "int f() { return " + "(" * 5000 + "f()" + ")" * 5000 + "; }\n"),
    ],
)
def test_deep_nesting_is_read_without_recursion_errors(suffix: str, source: str) -> None:
    project = Project({f"m.{suffix}": source})
    assert any(node.name == "f" for node in project.nodes().values())


def test_every_newline_and_tab_counts_as_editors_count() -> None:
    source = "def a():\r\n\tb()\r\ndef b():\r\n\tpass\r\n"
    for newline in ("\r\n", "\n", "\r"):
        script = Project({"m.js": f"function a() {{{newline}  b(){newline}}}{newline}function b() {{}}{newline}"})
        assert script.nodes()["symbol:m.js::b"].props["line"] == 4
        assert [(entry.start_line, entry.end_line) for entry in script.entries()][1:] == [(1, 3), (4, 4)]
        assert not any("\r" in entry.text for entry in script.entries())
        project = Project({"m.py": source.replace("\r\n", newline)})
        assert project.calls() == {("m.py::a", "m.py::b")}
        assert project.nodes()["symbol:m.py::b"].props["line"] == 3
    form_feed = Project({"m.py": "x = 1\n\f\ndef b():\n    pass\n"})
    assert form_feed.nodes()["symbol:m.py::b"].props["line"] == 3


def test_a_byte_order_mark_and_null_characters_do_no_harm() -> None:
    project = Project(
        {"m.py": "\ufeffdef a(): b()\ndef b(): pass\n# \0\n", "n.js": "\ufefffunction a() { b(); }\nfunction b() {}\n"}
    )
    assert project.calls() == {("m.py::a", "m.py::b"), ("n.js::a", "n.js::b")}


def test_bytes_that_are_no_utf_8_still_give_symbols() -> None:
    project = Project({"m.py": b"# caf\xe9\ndef a():\n    b('\xff')\ndef b(x): pass\n"})
    assert project.calls() == {("m.py::a", "m.py::b")}


def test_names_in_any_alphabet_are_names() -> None:
    project = Project(
        {
            "größe.py": "def größe(): 名前()\ndef 名前(): pass\n",
            "m.rs": "fn größe() { 名前(); }\nfn 名前() {}\n",
            "m.js": "function größe() { 名前(); }\nfunction 名前() {}\n",
        }
    )
    assert {target.partition("::")[2] for _, target in project.calls()} == {"名前"}
    assert len(project.calls()) == 3


def test_an_empty_file_is_nothing() -> None:
    project = Project({"a.py": "", "b.rs": "\n\n  \n"})
    assert project.nodes() == {}
    assert project.entries() == []


def test_a_parser_that_takes_too_long_is_abandoned_and_named() -> None:
    builder = CodeBuilder(seconds_per_file=0.0)
    for path, source in (
        ("m.py", "def a():\n    b()\ndef b():\n    pass\n"),
        ("m.go", "package m\nfunc a() { b() }\nfunc b() {}\n" * 500),
    ):
        extraction = builder.extract(Document(path, source))
        assert list(extraction.warnings) == ["took too long to parse: read by its surface only"]
        assert {entry.title for entry in extraction.entries} >= {"a", "b"}


SAMPLES = {
    "m.py": """
from a import b as c
class A(b):
    def f(self, x: int = 1, *y):
        with c as d:
            self.z = [g(i) for i in y if i]
        return f'{x}'

@c
async def g():
    await A().f(1)
""",
    "m.rs": """
use a::{b as c, d::*};
mod t { use super::*; }
pub struct S<T> { x: Box<T> }
impl<T: D> Tr for S<T> {
  fn f(&self, (a, b): (X, Y)) -> Self { match a { Some(x) if x.g() => vec![h(x)], _ => |y| y.z() }?; }
}
""",
    "m.ts": """
import d, { a as b } from './x';
export default class A<T> extends B implements ns.C {
  #x?: Map<K, V[]> = f();
  m = async ({ p, q: r = 2 }: O, ...s) => this.x!.y?.(p);
}
export * from './z'; enum E { A }
""",
    "m.go": """
package m
import x "a.b/c"
type S struct { *B; f func(int) }
func (s *S) G(a, b T, c ...U) (R, error) {
  for _, v := range s.f(1) { v.H() }
  switch t := a.(type) { case *B: t.I() }
}
""",
    "M.java": """
package a.b;
import static c.D.*;
public class M<T extends E> extends F implements G {
  M(T t) { super(t); }
  T h(List<T> xs) { xs.forEach(x -> x.i()); return new J() { void k() { l(); } }.m; }
  enum N { O }
}
""",
    "m.cpp": """
namespace n { class A : public B { void f() { g<int>(1)->h(); } }; }
int n::A::i(int *j) { return k(j); }
""",
    "m.rb": """
class A
  def f(x) # g(1)
    h(x) if i?("j(2)")
  end
end
""",
}
SCRAPS = (
    *"(){}[]\"'\\*\n\té",
    "::",
    "=>",
    "<T>",
    "def ",
    "class ",
    "fn ",
    "impl ",
    "use ",
)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(sorted(SAMPLES)),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 60), st.sampled_from(SCRAPS)), max_size=4),
)
def test_a_damaged_file_never_stops_the_builder(path: str, damage: list[tuple[int, int, str]]) -> None:
    text = SAMPLES[path]
    for place, length, scrap in damage:
        text = text[:place] + scrap + text[place + length :]
    project = Project({path: text})
    nodes = project.nodes()
    assert all(end in nodes for edge in project.edges().values() for end in (edge.source, edge.target))


def test_the_parser_itself_stops_in_time() -> None:
    with pytest.raises(TimeoutError):
        parse(Source("m.go", "package m\nfunc a() { b() }\n" * 2000), language_named("go"), time.monotonic() - 1)


def test_a_failing_parser_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(reading_module, "read_python", broken)
    with pytest.raises(ZeroDivisionError):
        CodeBuilder().extract(Document("m.py", "x = 1\n"))


def test_what_is_no_source_file_is_refused() -> None:
    builder = CodeBuilder()
    assert not builder.accepts("notes.md")
    assert builder.accepts("A.PY")
    with pytest.raises(ValueError, match=r"notes\.md"):
        builder.extract(Document("notes.md", "x"))


def test_every_id_and_property_may_be_stored() -> None:
    project = Project({f"m.{suffix}": "\ud800 function f() { g('\0', 1e999) }\nclass A { }\n" for suffix in SUFFIXES})
    for node in project.nodes().values():
        check_text(node.id, "id")
        check_props(node.props, "node")
    for edge in project.edges().values():
        check_props(edge.props, "edge")
    for entry in project.entries():
        check_text(entry.text, "text")
