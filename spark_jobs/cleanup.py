"""Delete the originals of compactions that are past their retention. This cannot be undone.

Example:

    spark-submit cleanup.py --database sales --older-than 7d

Of a table that was dropped, by the location that it had:

    spark-submit cleanup.py --location hdfs://nn/warehouse/sales.db/events
"""

from __future__ import annotations

import sys
from pathlib import Path

# In a checkout the package is found from this script's path. In a cluster it comes with --py-files, which comes first.
sys.path.append(str(Path(__file__).resolve().parents[1]))

from spark_jobs.verbs.main import main

if __name__ == "__main__":
    sys.exit(main("cleanup", sys.argv[1:], __doc__ or ""))
