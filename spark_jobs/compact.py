"""Rewrite the small files of Hive external tables into fewer files, and keep the originals for a rollback.

Example:

    spark-submit compact.py --table sales.events --sort-columns user_id
"""

import os
import sys

# In a checkout the package is found from this script's path. In a cluster it comes with --py-files, which comes first.
sys.path.append(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from spark_jobs.start import start

if __name__ == "__main__":
    sys.exit(start("compact", sys.argv[1:], __doc__))
