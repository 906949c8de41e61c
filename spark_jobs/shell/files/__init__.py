"""Files of data, by Spark and Hadoop's readers and writers: what they hold, and how they are written again."""
