"""The rules about tables, units and files: what may be compacted, what needs it, what is due."""
