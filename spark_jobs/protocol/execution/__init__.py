"""The execution of what was planned: compaction, rollback, cleanup and recovery.

Terms:
    wave: the units that share one intent record and one result record
    joint write: one Spark job that writes several small units, each into files of its own
"""
