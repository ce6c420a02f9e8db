"""What holds for a user's Cypher on every backend that takes it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from graphport.errors import InvalidQueryError


def check_parameters(named: Set[str], params: Mapping[str, Any]) -> None:
    """`InvalidQueryError` unless ``params`` has a value for each parameter ``named`` in the query, and no others.

    A parameter without a value is null to the engines, and matches nothing without a word.
    """
    unbound, unused = sorted(named - params.keys()), sorted(params.keys() - named)
    if unbound:
        raise InvalidQueryError(f"the query has ${', $'.join(unbound)}, and params no such key; give each a value")
    if unused:
        raise InvalidQueryError(f"params has {', '.join(unused)}, and the query no such parameter; leave them out")
