"""Reading and writing data files, by Spark."""
