"""A gazetteer as YAML, in the form the config has it, and as CSV for spreadsheets."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, cast

import yaml

from graphport.errors import InvalidIdError, InvalidInputError
from graphport.knowledge.entities import Entity, entity

_HEADER = ["type", "name", "alias"]
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's halves the time of a large gazetteer; it is in the wheels, and not everywhere else."""
_OTHER = object()
Format = Literal["yaml", "csv"]
_SUFFIXES: dict[str, Format] = {".yaml": "yaml", ".yml": "yaml", ".csv": "csv"}
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def file_format(file: Path, given: Format | None = None) -> Format:
    """The format of a file: the one ``given``, else what its name ends with, YAML for ``-``.

    Raises `InvalidInputError` for any other name.
    """
    found = given or ("yaml" if file == Path("-") else _SUFFIXES.get(file.suffix.lower()))
    if found is None:
        raise InvalidInputError(
            f"{str(file)!r:.200} ends with none of {', '.join(_SUFFIXES)}; say --format yaml or csv"
        )
    return found


def decoded(data: bytes) -> str:
    """The text of a file that says so itself or is UTF-8. Raises `InvalidInputError`: a guess could spoil names."""
    encoding = next((encoding for mark, encoding in _MARKS.items() if data.startswith(mark)), "utf-8-sig")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"the gazetteer is not UTF-8 (byte {error.start}); save it as UTF-8") from error


def written(entities: Iterable[Entity], file_format: Format) -> str:
    """The entities as a file of that format."""
    return to_yaml(entities) if file_format == "yaml" else to_csv(entities)


def read(text: str, file_format: Format) -> list[Entity]:
    """The entities in a file of that format. Raises `InvalidInputError`; then nothing has been taken."""
    return from_yaml(text) if file_format == "yaml" else from_csv(text)


def to_yaml(entities: Iterable[Entity]) -> str:
    """The entities as the config's ``entities:`` key; `from_yaml` gives the same back."""
    rows = [{"type": item.type, "names": list(item.names)} for item in entities]
    return yaml.safe_dump({"entities": rows}, allow_unicode=True, sort_keys=False)  # pyright: ignore[reportUnknownMemberType] - stub


def from_yaml(text: str) -> list[Entity]:
    """Entities of a YAML list of ``{type, names}``, bare or below an ``entities:`` key.

    Raises `InvalidInputError` that names the row; then nothing has been taken.
    """
    try:
        found: object = yaml.load(text, Loader=_LOADER)  # noqa: S506 - both are safe loaders
    except (yaml.YAMLError, RecursionError) as error:
        raise InvalidInputError(f"the gazetteer is not YAML: {error}") from error
    rows = cast("dict[object, object]", found).get("entities", _OTHER) if isinstance(found, dict) else found
    if rows is None:
        return []
    if not isinstance(rows, list):
        raise InvalidInputError("the gazetteer must be a list of {type: ..., names: [...]}, or hold one as 'entities:'")
    return [_from_mapping(row, number) for number, row in enumerate(cast("list[object]", rows), 1)]


def to_csv(entities: Iterable[Entity]) -> str:
    """One line an entity: type, canonical name, and every alias in a cell of its own."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_HEADER)
    writer.writerows([item.type, *item.names] for item in entities)
    return out.getvalue()


def from_csv(text: str) -> list[Entity]:
    """Entities of lines ``type,name,alias,...``; a first line ``type,name`` is a heading, empty cells are skipped.

    A first line without a comma sets ``;`` or the tabulator as the separator, as spreadsheets write them in
    many countries. Raises `InvalidInputError` that names the line; then nothing has been taken.
    """
    text = text.removeprefix("\ufeff")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=_delimiter(text))
    entities: list[Entity] = []
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            is_heading = reader.line_num == 1 and [cell.lower() for cell in cells[:2]] == _HEADER[:2]
            if any(cells) and not is_heading:
                entities.append(_checked(cells[0], [cell for cell in cells[1:] if cell], f"line {reader.line_num}"))
    except csv.Error as error:
        raise InvalidInputError(f"line {reader.line_num} is not CSV: {error}") from error
    return entities


def _delimiter(text: str) -> str:
    first = text.lstrip("\r\n").partition("\n")[0]
    return next((mark for mark in ",;\t" if mark in first), ",")


def _from_mapping(row: object, number: int) -> Entity:
    where = f"row {number}"
    if not isinstance(row, Mapping):
        raise InvalidInputError(f"{where} is {row!r:.80}; expected {{type: ..., names: [...]}}")
    fields = cast("Mapping[object, object]", row)
    unknown = [str(key) for key in fields if key not in ("type", "names", "name")]
    if unknown:
        raise InvalidInputError(f"{where} has the unknown key {unknown[0]!r:.80}; use type and names")
    names = fields.get("names", fields.get("name"))
    listed = cast("list[object]", names) if isinstance(names, list) else [names]
    if not isinstance(fields.get("type"), str) or not all(isinstance(name, str) for name in listed):
        raise InvalidInputError(f"{where} is {dict(fields)!r:.120}; type and names must be texts (quote numbers)")
    return _checked(str(fields["type"]), [str(name) for name in listed], where)


def _checked(entity_type: str, names: list[str], where: str) -> Entity:
    try:
        return entity(entity_type, names)
    except InvalidIdError as error:
        raise InvalidInputError(f"{where}: {error}") from error
