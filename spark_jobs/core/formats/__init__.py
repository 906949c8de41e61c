"""File formats: detection, footers, types, and the settings that a rewrite must keep."""
