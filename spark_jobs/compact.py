"""Rewrite the small files of Hive external tables into fewer files, and keep the originals for a rollback.

Example:

    spark-submit compact.py --table sales.events --sort-columns user_id
"""

from __future__ import annotations

import sys
from pathlib import Path

# In a checkout the package is found from this script's path. In a cluster it comes with --py-files, which comes first.
sys.path.append(str(Path(__file__).resolve().parents[1]))

from spark_jobs.verbs.main import main

if __name__ == "__main__":
    sys.exit(main("compact", sys.argv[1:], __doc__ or ""))
