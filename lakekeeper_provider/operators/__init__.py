"""Operators that run the maintenance jobs through spark-submit."""
