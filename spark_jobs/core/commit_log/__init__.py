"""The commit log of a table: snapshots of manifests, derived from the journals, and what is read from it."""
