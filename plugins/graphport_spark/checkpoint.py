"""What keeps a computation of many rounds from growing with each."""

from __future__ import annotations

from pyspark.sql import DataFrame


def cut(frame: DataFrame) -> DataFrame:
    """``frame`` computed, without its history, and of a size that Spark knows.

    The checkpoint alone keeps the size the planner guessed, a product over all joins so far: after ten rounds that
    read a frame several times it had millions of digits, and planning took minutes (Spark 4.3). What is persisted
    and there has its true size, and a small side of a join is broadcast instead of shuffled.
    """
    done = frame.localCheckpoint().persist()
    done.count()
    return done
