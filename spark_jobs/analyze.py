"""Find the tables and partitions that have many small files. No table is changed.

Example:

    spark-submit analyze.py --database sales
"""

import os
import sys

# In a checkout the package is found from this script's path. In a cluster it comes with --py-files, which comes first.
sys.path.append(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from spark_jobs.start import start

if __name__ == "__main__":
    sys.exit(start("analyze", sys.argv[1:], __doc__))
