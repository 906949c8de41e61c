"""Show what compactions, rollbacks and cleanups did to Hive external tables, and which runs can still be rolled back.

Example:

    spark-submit history.py --table sales.events --limit 10
"""

import os
import sys

# In a checkout the package is found from this script's path. In a cluster it comes with --py-files, which comes first.
sys.path.append(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from spark_jobs.start import start

if __name__ == "__main__":
    sys.exit(start("history", sys.argv[1:], __doc__))
