"""The execution of what was planned: compaction, rollback, cleanup and recovery."""
