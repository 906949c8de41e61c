"""Implementations of the ports of the protocol on Hadoop and Spark, and the place that puts them together."""
