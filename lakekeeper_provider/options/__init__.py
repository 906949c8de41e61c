"""The options of the jobs, and the other settings of operators, command line and YAML file."""
