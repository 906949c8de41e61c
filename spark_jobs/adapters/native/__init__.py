"""The adapters of table formats that keep lists of their own files, each by its own procedures."""
