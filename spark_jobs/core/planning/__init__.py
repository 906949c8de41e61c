"""The plan of a table and of its units as values: what to do, in which order, and within which limits."""
