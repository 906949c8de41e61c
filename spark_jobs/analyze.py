"""Find the tables and partitions that are full of small files. Writes nothing.

Example:

    spark-submit analyze.py --database sales
"""

from __future__ import annotations

import sys
from pathlib import Path

# From a checkout the package lies beside this script; in a cluster it comes with --py-files, which wins.
sys.path.append(str(Path(__file__).resolve().parents[1]))

from spark_jobs.verbs.analyze import analyze_table
from spark_jobs.verbs.main import main

if __name__ == "__main__":
    sys.exit(main("analyze", analyze_table, sys.argv[1:], __doc__ or ""))
