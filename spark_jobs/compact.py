"""Rewrite the small files of Hive external tables into few, and keep the originals for a rollback.

Example:

    spark-submit compact.py --table sales.events --sort-columns user_id
"""

from __future__ import annotations

import sys
from pathlib import Path

# From a checkout the package lies beside this script; in a cluster it comes with --py-files, which wins.
sys.path.append(str(Path(__file__).resolve().parents[1]))

from spark_jobs.verbs.compact import compact_table
from spark_jobs.verbs.main import main

if __name__ == "__main__":
    sys.exit(main("compact", compact_table, sys.argv[1:], __doc__ or ""))
