"""Reports and pages as HTML: what is shown is text and never markup, and only programs of this package run."""
