"""The only modules that move directories of data."""
