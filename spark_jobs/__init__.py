"""Spark jobs that analyse, compact, roll back and clean up Hive external tables.

`core` decides (pure, standard library only); `shell` acts (Spark, file system, metastore).
"""

__version__ = "0.1.0"
