"""Find the tables and partitions that have many small files. No table is changed.

Example:

    spark-submit analyze.py --database sales
"""

from __future__ import annotations

import sys
from pathlib import Path

# In a checkout the package is found from this script's path. In a cluster it comes with --py-files, which comes first.
sys.path.append(str(Path(__file__).resolve().parents[1]))

from spark_jobs.verbs.main import main

if __name__ == "__main__":
    sys.exit(main("analyze", sys.argv[1:], __doc__ or ""))
