"""The manual in a browser: light, dark and on a phone, without an error and without a request to another host."""

import functools
import http.server
import io
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
PAGES = {
    "start": "index.html",
    "guide": "guide/machines.html",
    "gallery": "gallery/models/disordered_thresholds.html",
    "api": "api/generated/ordsvm.SVOR.html",
}
SIZES = {"light": (1280, 900), "dark": (1280, 900), "phone": (390, 844)}
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--disable-component-update", "--no-first-run", "--hide-scrollbars",
)  # fmt: skip

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (BROWSER and DRIVER), reason="no Chromium with chromedriver is installed"),
]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def site():
    """The address of the manual: as `make docs` has left it, or built without running the examples."""
    pytest.importorskip("sphinx")
    folder = ROOT / "docs" / "_build" / "html"
    if not (folder / "index.html").is_file():
        command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "docs", str(folder)]
        subprocess.run(command, cwd=ROOT, env=os.environ | {"GALLERY": "0"}, check=True)
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_page_load_timeout(120)
    yield driver
    driver.quit()


def visit(browser, address, look):
    """Opens a page as it looks in a mode and a size."""
    width, height = SIZES[look]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": look == "phone"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if look == "dark" else "light"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(address)


def requests(browser):
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [message for message in messages if message["method"] == "Network.requestWillBeSent"]
    return [message["params"]["request"]["url"] for message in sent]


@pytest.mark.parametrize("look", SIZES)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_in_a_browser(browser, site, page, look):
    visit(browser, site + PAGES[page], look)
    errors = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert [entry["message"] for entry in errors if "favicon" not in entry["message"]] == []
    assert [url for url in requests(browser) if not url.startswith((site, "data:", "blob:"))] == []
    assert browser.execute_script("return document.documentElement.dataset.theme") == (
        "dark" if look == "dark" else "light"
    )
    wide = browser.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 1, "the page is wider than the window"
    if folder := os.environ.get("ORDSVM_PICTURES"):  # docs/images for the pictures that are kept
        keep(browser.get_screenshot_as_png(), Path(folder) / f"site_{page}_{look}.png")


def keep(picture, path):
    """A small version: half the width, 64 colours."""
    image = pytest.importorskip("PIL.Image").open(io.BytesIO(picture)).convert("RGB")
    image.thumbnail((640, 640))
    image.quantize(64).save(path, optimize=True)
