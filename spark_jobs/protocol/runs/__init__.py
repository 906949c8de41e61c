"""Runs on the file system: leases, journals, and whose records are trusted.

Terms:
    attempt: one process that works on a run; the name of the run's directory has its id of twelve hex digits
    generation: a run that is requested again after it has ended well: `<run id>-g2`
    fence: to rename a run's directory, so that the paths of earlier attempts, and of requests that a server executes
        late, do not exist any more
"""
