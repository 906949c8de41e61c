"""Compact three tables of small files through Airflow on this machine: `make demo`, `make up`, `make down`.

`services` starts the servers that this needs, for the tests too. Nothing here is part of the wheel.
"""

import sys

# In the syntax of any Python: this is the first file that an older one reads.
if sys.version_info < (3, 10):
    sys.exit(
        "error: Python 3.10 to 3.13 is needed, and %s is %s. Start it with another one, such as python3.12"
        % (sys.executable, ".".join(map(str, sys.version_info[:3])))
    )
