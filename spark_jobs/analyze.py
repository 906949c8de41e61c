"""Find the tables and partitions that are full of small files. Writes nothing.

Example:

    spark-submit analyze.py --database sales
"""

from __future__ import annotations

import sys
from pathlib import Path

# From a checkout the package lies beside this script; in a cluster it comes with --py-files, which wins.
sys.path.append(str(Path(__file__).resolve().parents[1]))

from spark_jobs.shell.job import main
from spark_jobs.shell.verbs.analyze import analyze_table

if __name__ == "__main__":
    sys.exit(main("analyze", analyze_table, sys.argv[1:], __doc__ or ""))
