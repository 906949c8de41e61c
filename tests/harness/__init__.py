"""Run the test suites, and what the suites share: fixtures, waiting, selection, results."""
