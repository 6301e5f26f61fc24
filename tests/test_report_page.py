"""The report in a browser: it draws, sorts and shows details, without an error and without a request."""

import io
import json
import os
import shutil
import time
from base64 import b64decode
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ordsvm.cli.app import run
from tests.cases import random_data

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (BROWSER and DRIVER), reason="no Chromium with chromedriver is installed"),
]
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--disable-component-update", "--no-first-run",
)  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The report of a tuned model whose labels and cells try to be markup."""
    folder = tmp_path_factory.mktemp("report")
    X, y = random_data(0, n=400, n_ranks=3, noise=2.0)
    labels = np.array(["<b>low</b>", "mid & more", "</script><script>boom()</script>"])
    frame = pd.DataFrame(X[:, :2], columns=["<img src=x onerror=boom()>", "b"]).assign(y=labels[y])
    frame.to_csv(folder / "data.csv", index=False)
    order = ["--order", ",".join(labels), "--hold-out", "0.4", "--folds", "2", "--tol", "0.01"]
    assert run(["tune", str(folder / "data.csv"), "-t", "y", *order, "-o", str(folder / "m")]) == 0
    assert run(["report", str(folder / "m"), str(folder / "data.csv"), "-o", str(folder / "page.html")]) == 0
    return folder / "page.html"


@pytest.fixture(scope="module")
def browser(page):
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.get(page.as_uri())
    yield driver
    driver.quit()


def eventually(browser, script, holds):
    """What the script returns, asked for until it is as it should be: browsers draw when they find the time."""
    for _ in range(50):
        value = browser.execute_script(script)
        if holds(value):
            break
        time.sleep(0.1)
    return value


def test_charts_are_drawn(browser):
    assert browser.execute_script("return document.documentElement.dataset.ready") == "true"
    charts = browser.execute_script("return [...document.querySelectorAll('.chart')].map(c => c.id)")
    assert {"confusion", "scores", "ranks", "regions", "tuning-coarse", "tuning-fine"} <= set(charts)
    boxes = "[...document.querySelectorAll('.chart svg')].map(c => c.getBoundingClientRect())"
    sizes = browser.execute_script(f"return {boxes}.map(b => [b.width, b.height])")
    assert len(sizes) == len(charts)
    assert np.min(sizes) > 60
    assert len(set(charts) - {""}) >= 6


def test_the_page_is_light(page):
    assert page.stat().st_size < 1_000_000


def test_no_text_of_a_chart_leaves_it(browser):
    script = """return [...document.querySelectorAll(".chart svg")].flatMap(svg => {
        const box = svg.getBoundingClientRect();
        return [...svg.querySelectorAll("text")].filter(t => {
            const b = t.getBoundingClientRect();
            return b.width && (b.left < box.left - 1 || b.right > box.right + 1 || b.bottom > box.bottom + 1);
        }).map(t => svg.getAttribute("aria-label") + ": " + t.textContent);
    })"""
    assert browser.execute_script(script) == []


def test_labels_are_text(browser):
    """What stands in the data is shown, not executed."""
    text = browser.execute_script("return document.getElementById('mistakes').textContent")
    assert "<b>low</b>" in text
    assert browser.execute_script("return document.querySelectorAll('img').length") == 0


def test_sorting(browser):
    rows = "return [...document.querySelectorAll('#mistakes tbody tr')].map(r => Number(r.cells[0].textContent))"
    heading = browser.find_element("css selector", "#mistakes th button")
    browser.execute_script("arguments[0].click()", heading)
    falling = browser.execute_script(rows)
    browser.execute_script("arguments[0].click()", heading)
    assert falling == sorted(falling, reverse=True)
    assert browser.execute_script(rows) == falling[::-1]
    assert len(falling) > 10


def test_hover(browser):
    script = """const mark = document.querySelector("#ranks [data-tip^='true mid']");
        mark.dispatchEvent(new PointerEvent("pointermove", {bubbles: true}));
        const tip = document.getElementById("tip");
        return tip.hidden ? "" : tip.textContent;"""
    assert "true mid & more: " in browser.execute_script(script)


def test_light_and_dark(browser):
    background = "return getComputedStyle(document.body).backgroundColor"
    mark = "return getComputedStyle(document.querySelector('#ranks .first')).fill"
    first = browser.execute_script(background), browser.execute_script(mark)
    browser.execute_script("document.querySelector('button.theme').click()")
    other = browser.execute_script(background), browser.execute_script(mark)
    assert first[0] != other[0]
    assert first[1] != other[1]


def test_on_a_phone(browser):
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    wide = eventually(browser, "return document.documentElement.scrollWidth", lambda pixels: pixels <= 390)
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide <= 390


def test_no_error_and_no_request(browser, page):
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert [url for url in asked if not url.startswith("data:")] == [page.as_uri()]


SIZES = {"light": (1180, 1500), "dark": (1180, 1500), "phone": (390, 1400)}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The report of a calibrated model of patients, with every section."""
    from sklearn.datasets import load_diabetes

    folder = tmp_path_factory.mktemp("shown")
    patients = load_diabetes(as_frame=True, scaled=False)
    ranks = pd.qcut(patients.target, 5, labels=["1", "2", "3", "4", "5"])
    patients.data.assign(progression=ranks).to_csv(folder / "patients.csv", index=False)
    data, model = str(folder / "patients.csv"), str(folder / "patients.ordsvm")
    options = ["--gamma", "0.03", "--hold-out", "0.3", "--calibrate"]
    assert run(["train", data, "-t", "progression", *options, "-o", model]) == 0
    assert run(["report", model, data, "-o", str(folder / "page.html")]) == 0
    return folder / "page.html"


@pytest.mark.parametrize("look", SIZES)
def test_every_section_in_light_dark_and_on_a_phone(browser, shown, look):
    width, height = SIZES[look]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": look == "phone"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if look == "dark" else "light"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
    browser.get_log("browser")
    browser.get(shown.as_uri())
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    headings = browser.execute_script("return [...document.querySelectorAll('h2')].map(h => h.textContent)")
    assert {"Is the model worth it?", "Does more data help?", "Columns that matter", "Prediction sets"} <= set(headings)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    letters = "[...document.querySelectorAll('.chart svg text')].filter(t => t.textContent)"
    assert browser.execute_script(f"return Math.min(...{letters}.map(t => t.getBoundingClientRect().height))") >= 9
    if folder := os.environ.get("ORDSVM_PICTURES"):  # docs/images for the pictures that are kept
        start = browser.execute_script("return document.getElementById('scores').closest('section').offsetTop - 8")
        for part, top in (("top", 0), ("more", start)):
            clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
            options = {"captureBeyondViewport": True, "clip": clip}
            picture = b64decode(browser.execute_cdp_cmd("Page.captureScreenshot", options)["data"])
            keep(picture, Path(folder) / f"report_{look}_{part}.png")


def keep(picture, path):
    """A small version, of 128 colours."""
    image = pytest.importorskip("PIL.Image").open(io.BytesIO(picture)).convert("RGB")
    image.thumbnail((900, 1400))
    image.quantize(128).save(path, optimize=True)
