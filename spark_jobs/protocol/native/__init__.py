"""Tables of formats that keep lists of their own files: planned, compacted and rolled back by their procedures."""
