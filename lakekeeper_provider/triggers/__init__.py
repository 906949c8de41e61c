"""Triggers of the deferrable parts."""
