"""Programs that spark-submit runs. They stand alone: only `make_table.py` imports from this checkout."""
