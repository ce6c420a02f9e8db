"""From what an import says to the file it means, language by language."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from graphport.builders import Definition
from graphport_code.languages import family_of
from graphport_code.unit import Unit
from graphport_code.values import Module
from graphport_code.world import World, module_name


def places(path: str, family: str) -> list[str]:
    """Every way to name a file as a module, longest first: its path without suffix and all tails of it.

    A package's own file (``__init__``, ``index``, ``mod``) stands for its folder.
    """
    parts = place_of(path, family).split("/")
    return ["/".join(parts[start:]) for start in range(len(parts))]


@lru_cache(maxsize=4096)  # asked for every file that has a module's name, by every import of that name
def place_of(path: str, family: str) -> str:
    """The longest of `places`, which is the only one that no other file has."""
    stem, _ = posixpath.splitext(path)
    folder, _, last = stem.rpartition("/")
    return folder if family == "go" or last in _PACKAGE_FILES.get(family, ()) else stem


def module_definitions(unit: Unit) -> Iterator[Definition]:
    """The names under which a file's module is found."""
    if unit.family == "java":
        yield Definition(module_name("java", unit.space), {"space": unit.space})
        return
    data = {"space": unit.space} if unit.space != unit.path else {}
    for place in places(unit.path, unit.family):
        yield Definition(module_name(unit.family, place), data)
    folder: str = posixpath.dirname(unit.path)
    while folder and unit.family == "python":
        yield Definition(f"folder:python:{folder}", {})
        folder = posixpath.dirname(folder)


def find_modules(world: World, importer: str, name: str, level: int) -> list[Module]:
    """Modules an import may mean; [] if it is none of the project's."""
    asked = (importer, name, level)
    found = world.modules.get(asked)
    if found is None:
        finder = _FINDERS.get(family_of(importer))
        found = world.modules[asked] = finder(world, importer, name, level) if finder else []
    return found


_PACKAGE_FILES = {"python": ("__init__",), "js": ("index",), "rust": ("mod", "lib", "main")}


def module_at(world: World, family: str, place: str) -> Module | None:
    """The module whose file, relative to the indexed folder, is exactly there."""
    for path, _ in world.find(module_name(family, place)):
        if place_of(path, family) == place:
            return Module(place, path)
    return None


def package_files(world: World, package: Module) -> list[str]:
    """The files whose names a package holds."""
    rows = world.find(module_name(world.family, package.place)) if package.space else ()
    return [path for path, data in rows if data.get("space") == package.space]


def module_below(world: World, module: Module, text: str) -> Module | None:
    """The file or package ``text`` inside a module."""
    if world.family not in ("python", "rust"):
        return None
    return module_at(world, world.family, f"{module.place}/{text}" if module.place else text)


def python_modules(world: World, importer: str, name: str, level: int) -> list[Module]:
    """Modules that ``import name`` (or ``from ..name``) in a file may mean; [] if it is not in the project."""
    if level:
        folder = posixpath.dirname(importer)
        for _ in range(level - 1):
            folder = posixpath.dirname(folder)
        place = "/".join(part for part in (folder, *name.split(".")) if part)
        return [module_at(world, "python", place) or Module(place, None)]
    tail = name.replace(".", "/")
    roots: dict[str, Module] = {}
    for root, module in _roots(world, tail):
        roots.setdefault(root, module)
    if not roots:
        return _inside_indexed_package(world, tail) or _namespace(world, importer, tail)
    if tail in sys.stdlib_module_names:
        return []
    home = posixpath.dirname(importer)
    above = [root for root in roots if _is_above(root, home)]
    importable = [root for root in above if not _in_package(world, root)]
    if importable or above:  # else beside the importer, as a script or Python 2 finds it
        return [roots[max(importable or above, key=len)]]
    outside = [root for root in roots if not _in_package(world, root)]
    return [roots[root] for root in _closest(outside, home)]


def _roots(world: World, tail: str) -> Iterator[tuple[str, Module]]:
    """Folders that hold a module of that name, and the module."""
    for path, _ in world.find(module_name("python", tail)):
        place = place_of(path, "python")
        yield place[: len(place) - len(tail)].rstrip("/"), Module(place, path)


def imported_from_indexed_package(world: World, importer: str, name: str, member: str) -> Module | None:
    """The module that ``from package import member`` means where the package's own folder was indexed."""
    if family_of(importer) != "python" or "." in name or name in sys.stdlib_module_names:
        return None
    found = _inside_indexed_package(world, f"{name}/{member}")
    return found[0] if found else None


def _inside_indexed_package(world: World, tail: str) -> list[Module]:
    """``package.part`` where the package's own folder was indexed, so that its name is in no path."""
    _, _, rest = tail.partition("/")
    if not rest or not world.find(module_name("python", "")):
        return []
    found = module_at(world, "python", rest)
    return [found] if found else []


def _namespace(world: World, importer: str, tail: str) -> list[Module]:
    """A folder without ``__init__``, beside the importer or above it."""
    home = posixpath.dirname(importer)
    while True:
        place = f"{home}/{tail}" if home else tail
        if world.look(f"folder:python:{place}"):
            return [Module(place, None)]
        if not home:
            return []
        home = posixpath.dirname(home)


def _in_package(world: World, folder: str) -> bool:
    """Whether a folder is known to be a package, so that what is in it is not imported by its bare name.

    An empty ``__init__`` is no document and not seen here.
    """
    found = module_at(world, "python", folder) if folder else None
    return found is not None and found.path is not None and posixpath.basename(found.path).startswith("__init__.")


def _is_above(root: str, folder: str) -> bool:
    return root == "" or folder == root or folder.startswith(f"{root}/")


def _closest(roots: Iterable[str], home: str) -> list[str]:
    """The roots that share most of their path with ``home``; several if that does not tell them apart."""
    ranked = sorted(roots, key=lambda root: (-len(posixpath.commonprefix([root + "/", home + "/"])), root))
    if not ranked:
        return []
    best = len(posixpath.commonprefix([ranked[0] + "/", home + "/"]))
    return [root for root in ranked if len(posixpath.commonprefix([root + "/", home + "/"])) == best]


_SUFFIXES = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".json")
_ALIASES = ("@/", "~/", "#/", "$lib/")


def ecma_modules(world: World, importer: str, name: str, _level: int) -> list[Module]:
    """``./x`` beside the importer; ``@/x``, as build tools have it, wherever exactly one file ends so."""
    if name.startswith("."):
        place = posixpath.normpath(posixpath.join(posixpath.dirname(importer), name))
        found = _ecma_module(world, place)
        return [found] if found else []
    alias = next((alias for alias in _ALIASES if name.startswith(alias)), None)
    if alias is None:
        return []
    rows = world.find(module_name("js", name.removeprefix(alias)))
    return [Module(place_of(path, "js"), path) for path, _ in rows]


def _ecma_module(world: World, place: str) -> Module | None:
    """A module may be imported by the name of what it is compiled to, and a folder by its ``index``."""
    stem, suffix = posixpath.splitext(place)
    for tried in (place, stem) if suffix in _SUFFIXES else (place,):
        folder, _, last = tried.rpartition("/")
        found = module_at(world, "js", folder if last == "index" else "" if tried == "." else tried)
        if found is not None:
            return found
    return None


_GO_HOSTS = frozenset({"github.com", "gitlab.com", "bitbucket.org", "golang.org"})
"""Hosts where a repository is named by two more parts."""


def go_modules(world: World, _importer: str, name: str, _level: int) -> list[Module]:
    """The folder that an import path ends in, below what names the repository; one word is the standard library."""
    parts = name.split("/")
    named = 1 if "." not in parts[0] else 3 if parts[0] in _GO_HOSTS else 2
    for start in range(len(parts) if len(parts) > named else 0):
        tail = "/".join(parts[start:])
        spaces = {
            str(data["space"])
            for path, data in world.find(module_name("go", tail))
            if place_of(path, "go") == tail and not data["space"].endswith("_test")
        }
        if spaces:
            return [Module(tail, None, space) for space in sorted(spaces)]
    return []


def java_modules(world: World, _importer: str, name: str, _level: int) -> list[Module]:
    """The package of that name."""
    return [Module(name, None, name)] if world.find(module_name("java", name)) else []


def rust_modules(world: World, importer: str, name: str, _level: int) -> list[Module]:
    """``crate``, ``self``, ``super``, a module below, or a crate of the same workspace."""
    here = Module(place_of(importer, "rust"), importer)
    if name == "self":
        return [here]
    if name == "super":
        return _found(module_at(world, "rust", posixpath.dirname(here.place)))
    if name == "crate":
        return [_crate(world, importer) or here]
    below = module_below(world, here, name.removeprefix("self/"))
    return [below] if below is not None else _workspace_crate(world, name)


def _crate(world: World, importer: str) -> Module | None:
    """The root file of the crate a file is in: the nearest ``lib.rs`` or ``main.rs`` above it."""
    if posixpath.basename(importer) in ("lib.rs", "main.rs"):
        return Module(place_of(importer, "rust"), importer)
    folder: str = posixpath.dirname(importer)
    while True:
        found = module_at(world, "rust", folder)
        if found is not None and posixpath.basename(str(found.path)) in ("lib.rs", "main.rs"):
            return found
        if not folder:
            return None
        folder = posixpath.dirname(folder)


def _workspace_crate(world: World, name: str) -> list[Module]:
    spelled = dict.fromkeys((name, name.replace("_", "-")))
    rows = [row for text in spelled for row in world.find(module_name("rust", f"{text}/src"))]
    return [Module(place_of(path, "rust"), path) for path, _ in rows if posixpath.basename(path) == "lib.rs"]


def _found(module: Module | None) -> list[Module]:
    return [module] if module is not None else []


_FINDERS: dict[str, Callable[[World, str, str, int], list[Module]]] = {
    "python": python_modules,
    "js": ecma_modules,
    "go": go_modules,
    "java": java_modules,
    "rust": rust_modules,
}
