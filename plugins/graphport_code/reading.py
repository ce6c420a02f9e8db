"""From a file to a unit: the best reader its language has, and a simpler one where that fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from graphport_code.clang import read_clang
from graphport_code.ecma import read_ecma
from graphport_code.golang import read_go
from graphport_code.java import read_java
from graphport_code.languages import INSTALL_HINT, Language
from graphport_code.plain import read_plain
from graphport_code.python import read_python
from graphport_code.rust import read_rust
from graphport_code.source import Source
from graphport_code.treesitter import first_error, parse
from graphport_code.unit import Unit

if TYPE_CHECKING:
    from tree_sitter import Tree

MINIFIED = "minified: only its beginning is indexed"


def read_unit(source: Source, language: Language, deadline: float) -> Unit:
    """The file as a unit; ``deadline`` is a `time.monotonic` moment. What went wrong is in its warnings."""
    if source.is_minified:
        beginning = Unit(source.path, language.family, source.path)
        beginning.warnings.append(MINIFIED)
        return beginning
    problem = "cannot be parsed"
    unit: Unit | None = None
    try:
        unit = _read(source, language, deadline)
    except TimeoutError:
        problem = "took too long to parse"
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("tree_sitter"):
            raise
        problem = f"{error.name} is not installed ({INSTALL_HINT})"
    if unit is None:
        unit = read_plain(source, language)
        unit.warnings.append(f"{problem}: read by its surface only")
    return unit


def _read(source: Source, language: Language, deadline: float) -> Unit | None:
    if language.family == "python":
        return read_python(source, deadline)
    reader = _READERS.get(language.family)
    if reader is None:
        return read_plain(source, language)
    tree = parse(source, language, deadline)
    unit = reader(source, tree, deadline)
    line = first_error(tree)
    if line is not None:
        unit.warnings.append(f"syntax error in line {line}: the rest is read")
    return unit


_READERS: dict[str, Callable[[Source, Tree, float], Unit]] = {
    "js": read_ecma,
    "go": read_go,
    "java": read_java,
    "rust": read_rust,
    "c": read_clang,
}
