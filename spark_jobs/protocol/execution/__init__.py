"""Carries out what was planned: compaction, rollback, cleanup and recovery."""
