"""`make demo`, `make up` and `make down`: three tables of small files, compacted through Airflow on this machine."""
