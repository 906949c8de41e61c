"""Plans the work on a table. Nothing is changed here."""
