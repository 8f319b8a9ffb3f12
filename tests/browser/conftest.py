"""A real, headless Chromium that opens report pages; without one the run fails."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from neardup_solr.files import write_lines
from neardup_solr.reports.html.page import Page, page_lines

Chrome = webdriver.Chrome
OpenPage = Callable[[Page], Chrome]

_CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
_SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """One headless Chromium with a profile of its own for all tests."""
    binary = next(filter(None, map(shutil.which, _CHROMIUMS)), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.fail("there is no Chromium with its driver; run scripts/programs", pytrace=False)
    options = Options()
    options.binary_location = binary
    for switch in (*_SWITCHES, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        chrome = webdriver.Chrome(options=options, service=Service(driver))
    except WebDriverException as error:
        pytest.fail(f"Chromium does not start; run scripts/programs ({error.msg})", pytrace=False)
    yield chrome
    chrome.quit()


@pytest.fixture
def open_page(chromium: Chrome, tmp_path: Path) -> OpenPage:
    """Writes a page to a file and opens that, in a wide, light window with empty logs."""

    def opened(page: Page) -> Chrome:
        path = tmp_path / "report.html"
        write_lines(path, page_lines(page))
        resize(chromium, 1400, 1000)
        prefer(chromium, "light")
        chromium.get("about:blank")
        for kind in ("browser", "performance"):
            _log(chromium, kind)
        chromium.get(path.as_uri())
        return chromium

    return opened


def resize(chrome: Chrome, width: int, height: int) -> None:
    """Give the page a view of so many CSS pixels."""
    view = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", view)


def prefer(chrome: Chrome, scheme: str) -> None:
    """Let the system prefer "light" or "dark"."""
    feature = {"name": "prefers-color-scheme", "value": scheme}
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def broken_words(chrome: Chrome, selector: str) -> list[str]:
    """The words of the elements that a selector matches which do not stand on a line."""
    broken: list[str] = chrome.execute_script(
        """const broken = [];
        for (const element of document.querySelectorAll(arguments[0])) {
          const nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
          while (nodes.nextNode()) {
            for (const word of nodes.currentNode.data.matchAll(/\\S+/g)) {
              const range = document.createRange();
              range.setStart(nodes.currentNode, word.index);
              range.setEnd(nodes.currentNode, word.index + word[0].length);
              if (range.getClientRects().length > 1) broken.push(word[0]);
            }
          }
        }
        return broken;""",
        selector,
    )
    return broken


def complaints(chrome: Chrome) -> list[str]:
    """What the console says since the page was opened, policy violations included."""
    return [entry["message"] for entry in _log(chrome, "browser")]


def requests(chrome: Chrome) -> list[str]:
    """The addresses that were asked for since the page was opened."""
    messages = [json.loads(entry["message"])["message"] for entry in _log(chrome, "performance")]
    sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    return [params["request"]["url"] for params in sent]


def _log(chrome: Chrome, kind: str) -> list[dict[str, str]]:
    """The entries of a log since it was last read."""
    return list(chrome.get_log(kind))  # type: ignore[no-untyped-call]  # selenium has no type here
