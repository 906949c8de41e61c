"""The commit log on the file system."""
