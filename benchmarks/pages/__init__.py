"""How fast the pages in Airflow's UI are over many tables, and what they cost the API server."""
