"""What Spark and Hadoop do for each file format; what the rest has to know of a format is in `core/formats.py`."""
