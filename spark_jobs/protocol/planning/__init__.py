"""Decides what is to be done to a table. Reads only."""
