"""Reports and pages as HTML: what is shown is text and never markup, and no program runs that is not in this package."""
