"""The checks of ``doctor``: those of a machine, and those of a driver, as a person reads them."""
