"""Delete the originals of compactions that are past their retention. This cannot be undone.

Example:

    spark-submit cleanup.py --database sales --older-than 7d

Of a table that was dropped, by the location that it had:

    spark-submit cleanup.py --location hdfs://nn/warehouse/sales.db/events
"""

import os
import sys

# In a checkout the package is found from this script's path. In a cluster it comes with --py-files, which comes first.
sys.path.append(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from spark_jobs.start import start

if __name__ == "__main__":
    sys.exit(start("cleanup", sys.argv[1:], __doc__))
