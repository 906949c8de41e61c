"""The command ``lakekeeper``: the jobs of the operators, from a shell."""
