"""What others are told after a job: asset events, lineage, metrics, and the refresh of other engines."""
