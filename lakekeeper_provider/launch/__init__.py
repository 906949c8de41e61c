"""What starts a job: the sources of the jobs, its command line and its request; and its report in what it prints."""
