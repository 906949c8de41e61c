"""Read the package index from pip's settings, as uv knows them."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys

from demo.services import paths

NETWORK_HINT = (
    "Is there a network? A package index other than PyPI is taken from pip's own settings"
    " (pip config set global.index-url ...) or from UV_DEFAULT_INDEX."
)

# pip's settings of the index, each with the environment variable of uv.
UV_NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "timeout": "UV_HTTP_TIMEOUT",
}


def uv_settings() -> dict[str, str]:
    """Return pip's index settings as variables for uv, except those that the user has set for uv already."""
    settings = {UV_NAMES[key]: value for key, value in pip_settings().items() if key in UV_NAMES}
    return {name: value for name, value in settings.items() if name not in os.environ}


def pip_settings() -> dict[str, str]:
    """Return pip's options; as in pip, the environment wins over [install], and that over [global]."""
    found = re.findall(r"^(global|install|:env:)\.([a-z-]+)='(.*)'$", _pip_config(), re.MULTILINE)
    ranked = sorted(found, key=lambda row: ("global", "install", ":env:").index(row[0]))
    return {key: value.replace("\\n", " ").strip() for _, key, value in ranked}


def _pip_config() -> str:
    """Return the output of `pip config list`; this Python may have no pip, but the environment `tools` has."""
    for python in (sys.executable, str(paths.env_python("tools"))):
        with contextlib.suppress(OSError):
            done = subprocess.run([python, "-m", "pip", "config", "list"], capture_output=True, text=True)
            if done.returncode == 0:
                return done.stdout
    return ""
