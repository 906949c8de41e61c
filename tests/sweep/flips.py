"""Other values of a setting, by its value: of a boolean the other one, of a number small, negative and large ones."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"-?\d+(\.\d+)?\Z")
_SIZE = re.compile(r"-?\d+(b|k|kb|m|mb|g|gb|t|tb|s|ms|min|h|d)\Z", re.IGNORECASE)
_CLASS = re.compile(r"([a-z_$][\w$]*\.)+[A-Z][\w$]*\Z")
_LARGE = str(2**31 - 1)
#: Values for a setting without one: nothing tells of which kind it is.
_ANY = ("true", "false", "0", "-1", "1", _LARGE, "x")


def flips(value: str | None) -> list[str]:
    """Return the values to try."""
    if value is None or not value.strip():
        return list(_ANY)
    text = value.strip()
    if text.lower() in ("true", "false"):
        return ["false" if text.lower() == "true" else "true"]
    if _NUMBER.match(text):
        return [each for each in ("0", "1", "-1", _LARGE) if each != text]
    if _SIZE.match(text):
        unit = text.lstrip("-0123456789.")
        return [f"{each}{unit}" for each in ("0", "1", "-1", "100000") if f"{each}{unit}" != text]
    if _CLASS.match(text):
        return ["com.example.Missing", "java.lang.Object"]
    return ["x", ""]
