"""What the jobs get and return: the request, and the report."""
