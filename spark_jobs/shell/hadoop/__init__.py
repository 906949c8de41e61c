"""The file system and the metastore, by Hadoop's and Hive's own clients: what the jobs act on."""
