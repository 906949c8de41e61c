"""Benchmarks: the jobs, Lakekeeper 0.0.6 and a plain Spark rewrite, in turn, each as a whole process.

    make bench                                     every case; writes docs/benchmarks.md and its chart
    make bench CASE=partitions-200 ROUNDS=3        one case

A case (`cases/`) prepares its tables and says what a step runs; `run.py` goes through rounds and steps, `results.py`
keeps what was measured, `page.py` writes the page. The programs below `programs/` are run by spark-submit.
"""
