"""How Spark and Hadoop read and write each file format; its properties are in `core/formats/registry.py`."""
