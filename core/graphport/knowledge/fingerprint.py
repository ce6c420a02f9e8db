"""A short name for a value, the same in every process: for telling whether something has changed."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def fingerprint(value: Any) -> str:
    """32 hexadecimal digits of any JSON value; what is not JSON counts by its `str`."""
    return hashlib.blake2b(json.dumps(value, sort_keys=True, default=str).encode(), digest_size=16).hexdigest()
