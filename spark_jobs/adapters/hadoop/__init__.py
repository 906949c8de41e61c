"""The file system and the metastore, through the Java clients of Hadoop and Spark."""
