"""Check the journals, originals and backup tables of Hive external tables. Nothing is changed.

Exit code 0: no damage, though there may be notices. Exit code 1: damage; each finding names the command that ends it.

Example:

    spark-submit check.py --database sales --read-data

Of what a dropped table has left, by the location that it had:

    spark-submit check.py --location hdfs://nn/warehouse/sales.db/events
"""

from __future__ import annotations

import sys
from pathlib import Path

# In a checkout the package is found from this script's path. In a cluster it comes with --py-files, which comes first.
sys.path.append(str(Path(__file__).resolve().parents[1]))

from spark_jobs.verbs.main import main

if __name__ == "__main__":
    sys.exit(main("check", sys.argv[1:], __doc__ or ""))
