"""What the tests and the demo stand on: environments, a Hive Metastore, Spark's configuration."""
