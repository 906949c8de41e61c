"""Spark jobs that analyse, compact, roll back and clean up Hive external tables.

`core` holds values and decisions (standard library only). `protocol` executes them through interfaces, which `adapters`
implement with Hadoop and Spark. `verbs` holds the programs.
"""

# `# guard: <name>` marks a statement that keeps data safe. For each of them, a test fails if it is removed
# (tests/mutation).
__version__ = "0.2.0.dev0"
