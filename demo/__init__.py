"""Compact three tables of small files through Airflow on this machine: `make demo`, `make up`, `make down`.

`services` starts what that needs, for the tests too. Nothing here is part of the wheel.
"""
