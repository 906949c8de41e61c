"""The jobs in a model cluster: every crash, error and interleaving, in milliseconds."""
