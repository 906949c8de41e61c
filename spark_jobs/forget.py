"""End the record of originals that somebody has deleted or changed, so that cleanups and rollbacks do not fail on them.

Nothing is deleted. Without --yes it only says what it would do.

Example:

    spark-submit forget.py --table sales.events --run-id nightly-9f2c41aa --yes

Of a table that was dropped, by the location that it had:

    spark-submit forget.py --location hdfs://nn/warehouse/sales.db/events --run-id nightly-9f2c41aa --yes
"""

import os
import sys

# In a checkout the package is found from this script's path. In a cluster it comes with --py-files, which comes first.
sys.path.append(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from spark_jobs.start import start

if __name__ == "__main__":
    sys.exit(start("forget", sys.argv[1:], __doc__))
