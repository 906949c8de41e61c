"""What a job measures while it works: time, progress, phases, and calls to the NameNode."""
