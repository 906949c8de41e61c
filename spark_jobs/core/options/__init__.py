"""The options of the jobs: definitions, command lines, and the layers that they come from."""
