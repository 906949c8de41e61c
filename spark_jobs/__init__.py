"""Spark jobs that analyse, compact, roll back and clean up Hive external tables.

`core` decides (pure, standard library only); `shell` acts (Spark, file system, metastore).
"""

# `# guard: <name>` marks a statement that keeps data safe; a test fails for each that is removed (tests/mutation).
__version__ = "0.1.0"
