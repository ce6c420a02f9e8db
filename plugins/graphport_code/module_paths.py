"""Names as an import spells them: ``shop.models.Cart.total`` for ``Cart.total`` in ``shop/models.py``."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from graphport.model import Node

_PACKAGE_FILES = frozenset({"__init__", "index", "mod", "lib"})


def spelled_by_module(nodes: Iterable[Node], name: str) -> list[Node]:
    """Of symbols, those that ``name`` means with a module before them; else with a package they may be exported by.

    The name of the folder that was indexed is in no path, so the first part may be it.
    """
    inside: list[Node] = []
    below: list[Node] = []
    for node in nodes:
        qualified = str(node.props.get("qualified", node.name))
        if not name.endswith(f".{qualified}"):
            continue
        parts = _module(str(node.props.get("file", "")))
        wanted = name.removesuffix(f".{qualified}").split(".")
        if parts[-len(wanted) :] == wanted or parts == wanted[1:]:
            inside.append(node)
        elif any(packages and parts[: len(packages)] == packages for packages in (wanted, wanted[1:])):
            below.append(node)
    return inside or below


def _module(path: str) -> list[str]:
    parts = posixpath.splitext(path)[0].split("/")
    return parts[:-1] if parts[-1] in _PACKAGE_FILES else parts
