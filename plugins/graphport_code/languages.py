"""Which files are source code, in which language, and how each language is read."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter


INSTALL_HINT = "pip install 'graphport[code]'"


@dataclass(frozen=True, slots=True)
class Language:
    """A language as its files are read.

    ``grammar`` is ``module:function`` of a tree-sitter wheel; "" where there is none, and then names
    followed by ``(`` are all that is known. Symbols of one ``family`` can call each other.
    """

    name: str
    family: str
    suffixes: tuple[str, ...]
    grammar: str = ""


LANGUAGES = (
    Language("python", "python", (".py", ".pyi", ".pyw"), "tree_sitter_python:language"),
    Language("rust", "rust", (".rs",), "tree_sitter_rust:language"),
    Language("typescript", "js", (".ts", ".mts", ".cts"), "tree_sitter_typescript:language_typescript"),
    Language("tsx", "js", (".tsx",), "tree_sitter_typescript:language_tsx"),
    Language("javascript", "js", (".js", ".mjs", ".cjs", ".jsx"), "tree_sitter_javascript:language"),
    Language("go", "go", (".go",), "tree_sitter_go:language"),
    Language("java", "java", (".java",), "tree_sitter_java:language"),
    Language("c", "c", (".c", ".h"), "tree_sitter_c:language"),
    Language("cpp", "c", (".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx"), "tree_sitter_cpp:language"),
    Language("csharp", "csharp", (".cs",)),
    Language("kotlin", "kotlin", (".kt", ".kts")),
    Language("scala", "scala", (".scala",)),
    Language("swift", "swift", (".swift",)),
    Language("ruby", "ruby", (".rb",)),
    Language("php", "php", (".php",)),
    Language("perl", "perl", (".pl", ".pm")),
    Language("lua", "lua", (".lua",)),
    Language("r", "r", (".r",)),
    Language("julia", "julia", (".jl",)),
    Language("dart", "dart", (".dart",)),
    Language("elixir", "elixir", (".ex", ".exs")),
    Language("haskell", "haskell", (".hs",)),
    Language("shell", "shell", (".sh", ".bash", ".zsh")),
    Language("sql", "sql", (".sql",)),
)

_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
_BY_NAME = {language.name: language for language in LANGUAGES}


@lru_cache(maxsize=4096)  # asked for the same few files with every name that is resolved
def language_of(path: str) -> Language | None:
    """The language of a file by its suffix, in any case; None if it is no source file."""
    return _BY_SUFFIX.get(posixpath.splitext(path)[1].lower())


def language_named(name: str) -> Language:
    return _BY_NAME[name]


def family_of(path: str) -> str:
    """The family of a source file's language; "" if it is no source file."""
    language = language_of(path)
    return language.family if language else ""


def missing_packages() -> list[str]:
    """Packages of the ``code`` extra that are not installed; none is imported."""
    grammars = {language.grammar.partition(":")[0] for language in LANGUAGES if language.grammar}
    return [name for name in ("tree_sitter", *sorted(grammars)) if find_spec(name) is None]


@cache
def grammar(language: Language) -> tree_sitter.Language:
    """The language's parser table, loaded on first use. Raises ImportError if its wheel is missing."""
    import tree_sitter

    module, _, function = language.grammar.partition(":")
    table: object = getattr(import_module(module), function)()  # a capsule
    return tree_sitter.Language(table)
