"""Compact three tables of small files through Airflow on this machine: `make demo`, `make up`, `make down`.

`services` starts the servers that this needs, for the tests too. Nothing here is part of the wheel.
"""
