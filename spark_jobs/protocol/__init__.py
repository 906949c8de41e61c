"""The protocol: planning, swap, journal, lease, recovery, rollback and cleanup. Imports neither PySpark nor py4j."""
