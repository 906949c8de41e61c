"""Each guard against a known hazard is removed, to see a test fail."""
