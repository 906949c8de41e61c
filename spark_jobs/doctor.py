"""Say what a driver finds of Spark, Kerberos, the metastore and HDFS, and what to do about it. Nothing is changed.

Exit code 0: nothing is wrong. Exit code 1: at least one check is bad.

Example:

    spark-submit doctor.py --table sales.events
"""

import os
import sys

# In a checkout the package is found from this script's path. In a cluster it comes with --py-files, which comes first.
sys.path.append(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from spark_jobs.start import start

if __name__ == "__main__":
    sys.exit(start("doctor", sys.argv[1:], __doc__))
