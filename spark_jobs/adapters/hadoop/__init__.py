"""The file system and the metastore, by Hadoop's Java clients."""
