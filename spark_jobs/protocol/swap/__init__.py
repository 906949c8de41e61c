"""The swap and the reverse swap: the only modules that rename a live directory."""
