import demo  # noqa: F401 - it says so if this Python is too old
