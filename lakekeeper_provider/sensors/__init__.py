"""Sensors for maintenance windows and small files."""
