"""Put the originals of a compaction back, and keep the rows that were added since.

Example:

    spark-submit rollback.py --table sales.events
"""

import os
import sys

# In a checkout the package is found from this script's path. In a cluster it comes with --py-files, which comes first.
sys.path.append(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from spark_jobs.start import start

if __name__ == "__main__":
    sys.exit(start("rollback", sys.argv[1:], __doc__))
