"""The jobs in a model world: every crash, error and interleaving, in milliseconds."""
