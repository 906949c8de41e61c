"""The only modules that rename directories of data."""
