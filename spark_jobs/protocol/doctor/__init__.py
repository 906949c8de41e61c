"""The checks of the verb `doctor`. They change nothing: no file is written, and no table is read."""
