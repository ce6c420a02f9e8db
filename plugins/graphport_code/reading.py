"""From a file to a unit: the best reader its language has, and a simpler one where that fails."""

from __future__ import annotations

from collections.abc import Callable

from graphport_code.languages import Language
from graphport_code.plain import read_plain
from graphport_code.python import read_python
from graphport_code.source import Source
from graphport_code.unit import Unit

MINIFIED = "minified: only its beginning is indexed"


def read_unit(source: Source, language: Language, deadline: float) -> Unit:
    """The file as a unit; ``deadline`` is a `time.monotonic` moment. What went wrong is in its warnings."""
    if source.is_minified:
        unit = Unit(source.path, language.family, source.path)
        unit.warnings.append(MINIFIED)
        return unit
    try:
        unit = _read(source, language, deadline)
        problem = "" if unit else "cannot be parsed"
    except TimeoutError:
        unit, problem = None, "took too long to parse"
    if unit is None:
        unit = read_plain(source, language)
        unit.warnings.append(f"{problem}: read by its surface only")
    return unit


def _read(source: Source, language: Language, deadline: float) -> Unit | None:
    if language.family == "python":
        return read_python(source, deadline)
    return read_plain(source, language)
