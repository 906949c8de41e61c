"""Keep Hive external tables healthy from Apache Airflow: safe compaction of small files, with rollback."""

__version__ = "0.2.0.dev0"
