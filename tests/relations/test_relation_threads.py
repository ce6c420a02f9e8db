"""Threads that write and threads that ask share a knowledge base without waiting for each other forever."""

from __future__ import annotations

import threading
import time

from graphport import Entry
from graphport.knowledge.opening import open_knowledge_base


def test_names_are_asked_for_while_another_thread_writes() -> None:
    kb = open_knowledge_base(":memory:", embedder=None)
    kb.add([Entry("a", "Calvin met Farel.", "Calvin")])
    asked = threading.Event()

    def ask() -> None:
        asked.set()
        kb.vocabulary()

    def write() -> None:
        with kb._truth.write():
            other = threading.Thread(target=ask, daemon=True)
            other.start()
            asked.wait(10)
            time.sleep(0.1)  # long enough for the other to be in the middle of its question
            kb.vocabulary()
        other.join(10)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    writer.join(10)
    assert not writer.is_alive()
    kb.close()
