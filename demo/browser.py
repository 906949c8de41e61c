"""Open a page of a running Airflow in Chromium without a window, wait for a text, and save a picture.

    .envs/browser/bin/python -m demo.browser URL TEXT [TEXT ...] [--click BUTTON ...] [--picture FILE]

The token of the user who looks at it is read from standard input. What the page shows is printed. The exit code is 1 if
a text is missing after a minute. It needs Chromium and its driver (Debian and Ubuntu: chromium, chromium-driver).
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support import expected_conditions
from selenium.webdriver.support.ui import WebDriverWait

PATIENCE = 60
#: Chromium asks servers of its own at each start, and a container has no sandbox for root.
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--window-size=1500,1050",
)


def main() -> int:
    parser = argparse.ArgumentParser(description="Open a page of Airflow, and wait for texts on it.")
    parser.add_argument("url")
    parser.add_argument("texts", nargs="+")
    parser.add_argument(
        "--click", action="append", default=[], help="a button to click first, by its text or label"
    )
    parser.add_argument("--theme", choices=("light", "dark"), default="light", help="the theme of Airflow")
    parser.add_argument("--picture", type=Path, help="save a picture of the page as PNG")
    asked = parser.parse_args()
    token = sys.stdin.readline().strip()
    with tempfile.TemporaryDirectory() as profile:
        browser = _browser(profile)
        try:
            missing = _look(browser, asked, token)
            if asked.picture:
                browser.save_screenshot(str(asked.picture))
        finally:
            browser.quit()
    if missing:
        print(f"error: {asked.url} does not show {missing!r}", file=sys.stderr)
    return 1 if missing else 0


def _browser(profile: str) -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    for option in (*OPTIONS, f"--user-data-dir={profile}"):
        options.add_argument(option)
    options.binary_location = shutil.which("chromium") or "chromium"
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def _look(browser: webdriver.Chrome, asked: argparse.Namespace, token: str) -> list[str]:
    """Open the page as a user who has logged in; print what it shows, and return the texts that are missing."""
    parts = urlsplit(asked.url)
    browser.get(f"{parts.scheme}://{parts.netloc}/api/v2/version")
    browser.add_cookie({"name": "_token", "value": token, "path": "/"})
    browser.execute_script("localStorage.setItem('theme', arguments[0])", asked.theme)
    browser.get(asked.url)
    for name in asked.click:
        condition = f"normalize-space()={name!r} or @aria-label={name!r} or @title={name!r}"
        button = (By.XPATH, f"//*[self::button or @role='button' or @role='menuitem'][{condition}]")
        WebDriverWait(browser, PATIENCE).until(expected_conditions.element_to_be_clickable(button)).click()
    with contextlib.suppress(TimeoutException):
        WebDriverWait(browser, PATIENCE).until(lambda _: not _missing(browser, asked.texts))
    print(_shown(browser))
    return _missing(browser, asked.texts)


def _missing(browser: webdriver.Chrome, texts: list[str]) -> list[str]:
    shown = _shown(browser)
    return [text for text in texts if text not in shown]


def _shown(browser: webdriver.Chrome) -> str:
    return str(browser.find_element(By.TAG_NAME, "body").text)


if __name__ == "__main__":
    sys.exit(main())
