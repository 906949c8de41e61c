"""List what a compaction of Hive external tables would do, in its order, within limits. Changes no table.

Example:

    spark-submit plan.py --database sales --max-bytes 500gb --report plan.json
    spark-submit compact.py --plan plan.json
"""

from __future__ import annotations

import sys
from pathlib import Path

# In a checkout the package is found from this script's path. In a cluster it comes with --py-files, which comes first.
sys.path.append(str(Path(__file__).resolve().parents[1]))

from spark_jobs.verbs.main import main

if __name__ == "__main__":
    sys.exit(main("plan", sys.argv[1:], __doc__ or ""))
