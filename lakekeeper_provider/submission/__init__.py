"""The submission of a job by Airflow's hook: its environment, its log, its links, and where its report lies."""
