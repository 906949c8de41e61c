"""Parquet files rewritten by pyarrow in Spark's Python workers."""
