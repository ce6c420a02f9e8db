"""``graphport.yaml``: read, expanded and checked as a whole before anything is opened."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, cast, get_args

import platformdirs
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from graphport.errors import BackendNotFoundError, ConfigError, InvalidIdError, UnsupportedError
from graphport.matching import fold
from graphport.model import check_text
from graphport.patterns import DEFAULT_PATTERNS, Patterns
from graphport.registry import backend_options, find_backend
from graphport.server_config import ServerConfig
from graphport.storage import Backend, BackendOptions, Capability

Mode = Literal["hybrid", "lexical", "dense"]
GraphMode = Literal["auto", "rerank", "leg", "walk"]
Engine = Literal["auto", "igraph", "chebyshev", "push"]
LinkerName = Literal["containment", "fuzzy", "embedding"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class GraphConfig(BaseModel):
    """``graph: {backend: age, dsn: ...}``: the backend's name, and its options beside it.

    ``snapshot_dir`` is the folder of `graphport.snapshot.snapshot_of`: cold starts map the graph from there.
    """

    model_config = ConfigDict(extra="allow", frozen=True, hide_input_in_errors=True)

    backend: str = "memory"
    snapshot_dir: Path | None = None

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class StrategyConfig(_Section):
    """What is done at index time. ``graph``: build the graph."""

    graph: bool = True


class RetrievalConfig(_Section):
    """What is done at query time; every key can be given per call too.

    ``graph_weight`` and ``damping`` are in [0, 1] and [0, 1); ``top_k`` >= 1; ``graph`` asks for the
    graph, ``graph_mode`` says how its walk is used (docs/retrieval.md). ``max_visited`` keeps a graph that
    is too large or too remote to be read as a whole from being so: the leg expands that many nodes.
    ``linkers`` find what a query names, each in what the earlier ones left.
    """

    mode: Mode = "hybrid"
    top_k: int = Field(default=8, ge=1, le=10_000)
    graph: bool = False
    graph_mode: GraphMode = "auto"
    graph_weight: float = Field(default=0.5, ge=0, le=1, allow_inf_nan=False)
    damping: float = Field(default=0.5, ge=0, lt=1, allow_inf_nan=False)
    engine: Engine = "auto"
    rrf_k: float = Field(default=60, gt=-1, allow_inf_nan=False)
    passage_node_weight: float = Field(default=0.05, ge=0, le=1, allow_inf_nan=False)
    max_visited: int | None = Field(default=None, ge=1)
    linkers: tuple[LinkerName, ...] = Field(default=("containment",), min_length=1)

    @field_validator("linkers")
    @classmethod
    def _linkers_are_distinct(cls, value: tuple[LinkerName, ...]) -> tuple[LinkerName, ...]:
        if len(set(value)) < len(value):
            raise ValueError(f"each linker works once; {', '.join(value)} names one twice")
        return value


class EntityConfig(_Section):
    """An entity of the declared gazetteer; ``names[0]`` is its canonical name, the rest are aliases."""

    type: str
    names: tuple[str, ...] = Field(min_length=1)

    @field_validator("type")
    @classmethod
    def _type_is_text(cls, value: str) -> str:
        return _text(value)

    @field_validator("names")
    @classmethod
    def _names_are_texts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_name(name) for name in value)


class RelationsConfig(_Section):
    """Relations between entities of the gazetteer (docs/relations.md); none unless asked for.

    ``co_occurs``: how many edges to entities found in the same passages an entity may have. ``patterns``:
    sentence templates by the kind of relation they state; ``default`` stands for `DEFAULT_PATTERNS`.
    """

    co_occurs: int = Field(default=0, ge=0, le=1000, strict=True)
    patterns: Mapping[str, tuple[str, ...]] = Field(default_factory=dict[str, tuple[str, ...]])

    @field_validator("patterns", mode="before")
    @classmethod
    def _default_is_the_shipped_list(cls, value: object) -> object:
        if isinstance(value, str) and value != "default":
            raise ValueError(f"{value!r:.40} is no list of templates; write default, or kinds with their templates")
        return DEFAULT_PATTERNS if value == "default" else value

    @field_validator("patterns")
    @classmethod
    def _templates_can_be_read(cls, value: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
        Patterns(value)
        return value


class KnowledgeBaseConfig(_Section):
    """One knowledge base; what it leaves out is as the top level says, or the default."""

    name: str = "default"
    graph: GraphConfig | None = None
    embedder: str | None = None
    strategy: StrategyConfig = StrategyConfig()
    retrieval: RetrievalConfig = RetrievalConfig()
    relation_weights: Mapping[str, float] = Field(default_factory=dict[str, float])
    entities: tuple[EntityConfig, ...] = ()
    relations: RelationsConfig = RelationsConfig()

    @field_validator("name")
    @classmethod
    def _name_is_a_folder_name(cls, value: str) -> str:
        if not _NAME.fullmatch(value):
            raise ValueError("must be 1 to 100 letters, digits, '_', '.' or '-', beginning with a letter or digit")
        return value

    @field_validator("relation_weights")
    @classmethod
    def _factors_are_finite(cls, value: Mapping[str, float]) -> Mapping[str, float]:
        for kind, factor in value.items():
            _text(kind)
            if not 0 <= factor < float("inf"):
                raise ValueError(f"factor of {kind!r} must be a finite number >= 0")
        return value


class Config(_Section):
    """A whole config file. ``data_dir`` holds a folder for each knowledge base."""

    data_dir: Path | None = None
    graph: GraphConfig = GraphConfig()
    embedder: str = "auto"
    vector_dbs: tuple[KnowledgeBaseConfig, ...] = ()
    server: ServerConfig = ServerConfig()

    @model_validator(mode="after")
    def _names_are_unique(self) -> Config:
        names = [base.name for base in self.vector_dbs]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two knowledge bases are called {name!r}")
        return self

    @property
    def home(self) -> Path:
        """Folder of the knowledge bases: ``data_dir``, else ``$GRAPHPORT_HOME``, else the user's data folder."""
        if self.data_dir is not None:
            return self.data_dir.expanduser()
        return Path(os.environ.get("GRAPHPORT_HOME") or platformdirs.user_data_path("graphport"))

    def knowledge_base(self, name: str) -> KnowledgeBaseConfig:
        """Config of the knowledge base of that name, with the top level's defaults filled in."""
        own = next((base for base in self.vector_dbs if base.name == name), None) or KnowledgeBaseConfig(name=name)
        return own.model_copy(
            update={
                "graph": own.graph or self.graph,
                "embedder": self.embedder if own.embedder is None else own.embedder,
            }
        )


def load_config(source: str | Path | Mapping[str, Any] | None = None) -> Config:
    """The config in a YAML file, or a mapping of the same form; None gives the defaults.

    ``${VAR}`` and ``${VAR:-default}`` in values are taken from the environment. Relative paths are
    relative to the file. Raises `ConfigError` with file, key and a stable ``problem`` code; nothing has
    been opened then.
    """
    if source is None:
        return Config()
    file = "" if isinstance(source, Mapping) else str(source)
    raw = dict(source) if isinstance(source, Mapping) else _read(Path(source))
    try:
        config = Config.model_validate(_expand(raw, file, ""))
    except RecursionError as error:
        raise ConfigError("an alias (*name) stands for itself", problem="config-not-yaml", file=file) from error
    except ValidationError as error:
        raise _config_error(error, file) from error
    for index, base in enumerate(config.vector_dbs):
        if base.graph is not None:
            check_graph(base.graph, base.name, folder=Path(), file=file, key=f"vector_dbs[{index}].graph")
    check_graph(config.graph, "graph", folder=Path(), file=file, key="graph")
    return _beside(Path(file).resolve().parent, config) if file else config


def _beside(folder: Path, config: Config) -> Config:
    """The config with its relative folders made absolute: they are relative to its file."""

    def absolute(path: Path | None) -> Path | None:
        return None if path is None else folder / path.expanduser()

    def graph_of(graph: GraphConfig) -> GraphConfig:
        return graph.model_copy(update={"snapshot_dir": absolute(graph.snapshot_dir)})

    bases = tuple(
        base if base.graph is None else base.model_copy(update={"graph": graph_of(base.graph)})
        for base in config.vector_dbs
    )
    return config.model_copy(
        update={"data_dir": absolute(config.data_dir), "graph": graph_of(config.graph), "vector_dbs": bases}
    )


def check_graph(
    graph: GraphConfig, name: str, *, folder: Path | None = None, file: str = "", key: str = ""
) -> tuple[Backend, BackendOptions]:
    """The backend ``graph`` names and its checked options; opens nothing.

    Options left out are filled in: ``graph`` is the knowledge base's name, ``path`` lies in ``folder`` if
    there is one.
    Raises `ConfigError` (``unknown-backend``, ``bad-backend-option``).
    """
    try:
        backend = find_backend(graph.backend)
    except BackendNotFoundError as error:
        raise ConfigError(
            str(error), problem="unknown-backend", key=f"{key}.backend" if key else "", file=file
        ) from error
    options = {"graph": name, **graph.options}
    keeps_files = Capability.PERSISTENT in backend.capabilities and "path" in backend.options_model.model_fields
    if keeps_files and "path" not in options and folder is not None:
        options["path"] = str(folder / f"graph.{backend.name}")
    try:
        return backend, backend_options(backend, options, file=file, key=key)
    except InvalidIdError as error:
        where = f"{key}.graph" if key else "graph"
        raise ConfigError(str(error), problem="bad-backend-option", key=where, file=file) from error
    except UnsupportedError as error:
        raise ConfigError(str(error), problem="bad-backend-option", key=key, file=file) from error


def _text(value: str) -> str:
    try:
        return check_text(value, "it")
    except InvalidIdError as error:
        raise ValueError(str(error)) from error


def _name(value: str) -> str:
    """A name that a text can mention: one of punctuation alone would never be found."""
    try:
        fold(value)
    except InvalidIdError as error:
        raise ValueError(str(error)) from error
    return value


class _Loader(yaml.SafeLoader):
    """YAML in which a key may stand only once; PyYAML keeps the last and says nothing."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        construct = cast("Callable[..., Any]", self.construct_object)  # pyright: ignore[reportUnknownMemberType] - stub
        keys = [construct(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.YAMLError(f"line {node.start_mark.line + 1}: key {key!r} stands twice")
        return cast("dict[Any, Any]", super().construct_mapping(node, deep))


def _read(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read: {error}", problem="unreadable-config", file=str(file)) from error
    try:
        found = yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"is not YAML: {error}", problem="config-not-yaml", file=str(file)) from error
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ConfigError("must hold keys such as 'vector_dbs:'", problem="config-not-a-mapping", file=str(file))
    return cast("dict[str, Any]", found)


def _expand(value: Any, file: str, key: str) -> Any:
    if isinstance(value, str):
        return _VARIABLE.sub(_variable(file, key), value)
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {name: _expand(item, file, f"{key}.{name}" if key else str(name)) for name, item in items}
    if isinstance(value, list):
        return [_expand(item, file, f"{key}[{index}]") for index, item in enumerate(cast("list[Any]", value))]
    return value


def _variable(file: str, key: str) -> Callable[[re.Match[str]], str]:
    def replace(match: re.Match[str]) -> str:
        name, default = match.group(1), match.group(2)
        found = os.environ.get(name) or default
        if found is None:
            raise ConfigError(
                f"environment variable {name} is not set; set it or write ${{{name}:-default}}",
                problem="missing-environment-variable",
                key=key,
                file=file,
            )
        return found

    return replace


def _config_error(error: ValidationError, file: str) -> ConfigError:
    errors = error.errors(include_url=False, include_input=False)
    first = next((it for it in errors if it["type"] == "extra_forbidden"), errors[0])  # a key misspelt is missing, too
    parts = [str(part) for part in first["loc"]]
    key = ""
    for part in first["loc"]:
        key += f"[{part}]" if isinstance(part, int) else f".{part}" if key else str(part)
    names = [part for part in parts if not part.isdigit()]
    if first["type"] == "extra_forbidden":
        problem = "unknown-config-key"
    elif "two knowledge bases" in first["msg"]:
        problem = "duplicate-knowledge-base"
    elif names[:1] == ["vector_dbs"]:
        section = {"retrieval": 2, "strategy": 2}.get(names[1] if len(names) > 1 else "", 1)
        what = names[section] if len(names) > section else names[-1]
        problem = f"bad-knowledge-{what.replace('_', '-')}"
    else:
        problem = f"bad-{(names[0] if names else 'config').replace('_', '-')}"
    if problem == "unknown-config-key":
        message = _unknown_key(names)
    elif problem == "bad-knowledge-graph-weight":
        message = "graph_weight must be finite and in 0..=1"
    elif first["type"] == "model_type":
        message = f"must hold keys with values, as in `{names[-1]}: {{key: value}}`"
    else:
        message = first["msg"].removeprefix("Value error, ")
    return ConfigError(message, problem=problem, key=key, file=file)


def _unknown_key(names: list[str]) -> str:
    section: type[BaseModel] = Config
    for name in names[:-1]:
        section = _section_in(section.model_fields[name].annotation) or section
    hint = ""
    if section is Config and names[-1] in KnowledgeBaseConfig.model_fields:
        hint = "; it is a key of each of the vector_dbs"
    return f"there is no key {names[-1]!r} here{hint}; known are {', '.join(section.model_fields)}"


def _section_in(annotation: Any) -> type[BaseModel] | None:
    """The section that a field holds, alone, in a tuple or optionally."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_section_in, get_args(annotation))), None)
