"""The verb check: it compares the journals of a table with its directories, and changes nothing."""
