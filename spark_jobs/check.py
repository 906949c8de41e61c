"""Check the journals, originals and backup tables of Hive external tables. Nothing is changed.

Exit code 0: no damage, though there may be notices. Exit code 1: damage; each finding names the command that ends it.

Example:

    spark-submit check.py --database sales --read-data

Of what a dropped table has left, by the location that it had:

    spark-submit check.py --location hdfs://nn/warehouse/sales.db/events
"""

import os
import sys

# In a checkout the package is found from this script's path. In a cluster it comes with --py-files, which comes first.
sys.path.append(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from spark_jobs.start import start

if __name__ == "__main__":
    sys.exit(start("check", sys.argv[1:], __doc__))
