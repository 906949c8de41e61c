"""Where tables are: on the local disk, or on the test cluster's HDFS."""
