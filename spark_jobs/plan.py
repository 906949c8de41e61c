"""List what a compaction of Hive external tables would do, in its order, within limits. Changes no table.

Example:

    spark-submit plan.py --database sales --max-bytes 500gb --report plan.json
    spark-submit compact.py --plan plan.json
"""

import os
import sys

# In a checkout the package is found from this script's path. In a cluster it comes with --py-files, which comes first.
sys.path.append(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from spark_jobs.start import start

if __name__ == "__main__":
    sys.exit(start("plan", sys.argv[1:], __doc__))
