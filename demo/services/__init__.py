"""Start real services on this machine: Python environments, a Hive Metastore, PostgreSQL, Spark, Airflow.

Standard library only: it runs before there is any environment.
"""
