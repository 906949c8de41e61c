"""Runs on the file system: leases, journals, and whose records are trusted."""
