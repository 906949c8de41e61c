"""The submission of a job: the request, the command line of spark-submit, where its report lies."""
