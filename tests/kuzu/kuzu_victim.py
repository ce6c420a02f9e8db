"""A process that checks what the one before it left, and then writes until it is killed.

Run as ``python kuzu_victim.py OPTIONS SEED``; says ``checked N half-built=M`` and then each number it committed.
"""

from __future__ import annotations

import json
import random
import sys
from itertools import count
from pathlib import Path
from typing import Any

from kuzu_model import Model, apply, random_writes

from graphport import GraphSnapshot, Node, open_storage
from graphport_kuzu import engine

LOAD_EVERY = 7
"""Every so many commits the whole graph is written anew, by `bulk_load`."""


def step(seed: int, number: int, model: Model) -> list[Any]:
    """The writes of commit ``number``: always the same for the same history; the node ``counter`` tells it."""
    counter = Node("counter", "counter", "counter", None, {"n": number})
    return [*random_writes(random.Random(seed * 1_000_003 + number), model), ("upsert_nodes", [counter])]


def history(seed: int, number: int) -> Model:
    """The graph after ``number`` commits."""
    model = Model()
    for done in range(1, number + 1):
        apply(model, step(seed, done, model))
    return model


def main(options: dict[str, Any], seed: int) -> None:
    # so that compaction is as frequent as anything else
    engine.Engine.needs_compaction = property(lambda self: self._wal_size > 20_000)  # type: ignore[method-assign, assignment]
    half_built = len(list(Path(options["path"]).glob("*/new-*")))
    storage = open_storage("kuzu", **options)
    counter = storage.get_nodes(["counter"]).get("counter")
    done = 0 if counter is None else int(counter.props["n"])
    model = history(seed, done)
    model.assert_same(storage)
    print(f"checked {done} half-built={half_built}", flush=True)
    for number in count(done + 1):
        writes = step(seed, number, model)
        apply(model, writes)
        if number % LOAD_EVERY == 0:
            storage.bulk_load(GraphSnapshot.from_rows(model.nodes.values(), model.edges.values()))
        else:
            with storage.transaction():
                apply(storage, writes)
        print(number, flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), int(sys.argv[2]))
