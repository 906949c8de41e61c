"""Show what compactions, rollbacks and cleanups did to Hive external tables, and which runs can still be rolled back.

Example:

    spark-submit history.py --table sales.events --limit 10
"""

from __future__ import annotations

import sys
from pathlib import Path

# In a checkout the package is found from this script's path. In a cluster it comes with --py-files, which comes first.
sys.path.append(str(Path(__file__).resolve().parents[1]))

from spark_jobs.verbs.main import main

if __name__ == "__main__":
    sys.exit(main("history", sys.argv[1:], __doc__ or ""))
