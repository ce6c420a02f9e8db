"""Ranking on Apache Spark, for graphs larger than the memory of one machine: DataFrame joins, nothing else."""
