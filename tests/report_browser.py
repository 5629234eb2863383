"""The page in a real browser: `make report-browser`. Needs Chromium and its driver.

Writes screenshots to build/, light and dark, wide and as on a phone, for a person to look at.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import quote

from tests.browser import BUILD, PHONE, WIDE, Browser, check, new_browser, wait_until
from tests.generated_formats import ROOT
from tests.replay_server import Replay, replaying
from tests.test_chat_page import FOLDER, TURN
from tests.test_report import HOSTILE, checkout, hostile_spec
from turnspec.pipeline.project import Project
from turnspec.report.entries import read_entries
from turnspec.report.page import render_page
from turnspec.report.server import ReportServer, Site

NAME = "glm-4-6"
#: A text for the pictures, with a problem in it.
PICTURED = """<think>Two days, in Paris.</think>
Let me look.
<tool_call>get_weather
<arg_key>city</arg_key>
<arg_value>Paris</arg_value>
<arg_key>days</arg_key>
<arg_value>three</arg_value>
</tool_call>"""


def shown_rows(browser: Browser) -> int:
    rows = "[...document.querySelectorAll('.index tbody tr')]"
    return int(browser.run(f"return {rows}.filter(row => row.offsetHeight).length"))


def check_filters(browser: Browser, total: int) -> None:
    check(shown_rows(browser) == total, f"all {total} formats are shown")
    browser.run(
        "const f = document.getElementById('filters').elements; f.calls.value = arguments[0];"
        "f.calls.dispatchEvent(new Event('input', {bubbles: true}))",
        "TAG_WITH_TAGGED",
    )
    tagged = shown_rows(browser)
    count = browser.run("return document.getElementById('count').textContent")
    check(0 < tagged < total and count == f"{tagged} of {total} shown", f"a filter: {count}")
    browser.run("document.querySelector('#filters button').click()")
    time.sleep(0.2)
    check(shown_rows(browser) == total, "all are shown again")
    search = "const f = document.getElementById('filters').elements.name; f.value = arguments[0];"
    search += "f.dispatchEvent(new Event('input', {bubbles: true}))"
    for name in ("Qwen3-32B", "unsloth/gpt-oss-20b-GGUF"):
        browser.run(search, name)
        check(0 < shown_rows(browser) < total, f"a model's id finds some: {name}")
    browser.run(search, "no such format")
    none = "document.getElementById('none')"
    check(
        browser.run(f"return !{none}.hidden && {none}.innerText.startsWith('No format fits')"),
        "a search that finds nothing says so",
    )
    browser.run(f"{none}.querySelector('button').click()")
    time.sleep(0.2)
    check(shown_rows(browser) == total, "and leads back to all")


def check_keyboard(browser: Browser) -> None:
    browser.run("document.querySelector('.index a').focus()")
    browser.press("enter")
    time.sleep(0.3)
    script = "const a = document.activeElement; return a.tagName + ' ' + a.parentElement.open"
    check(browser.run(script) == "SUMMARY true", "the enter key on a link opens its format")
    browser.press("enter")
    check(browser.run(script) == "SUMMARY false", "the enter key closes it")
    seen = set()
    browser.run("document.querySelector('.skip').focus()")
    for _ in range(8):
        browser.press("tab")
        seen.add(
            browser.run("return document.activeElement.name || document.activeElement.tagName")
        )
    check({"name", "calls", "reasoning", "values", "verified"} <= seen, "filters by the tab key")


def check_widths(browser: Browser) -> None:
    for size in (WIDE, PHONE, (320, 700)):
        browser.looks(size, "light")
        browser.run(
            "document.querySelectorAll('article > details').forEach(d => { d.open = true })"
        )
        forms = "document.querySelectorAll('.try form').length"
        articles = "document.querySelectorAll('article').length"
        wait_until(browser, f"{forms} === {articles}", "all boxes are there")
        excess = browser.run(
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        check(excess <= 0, f"nothing sticks out at {size[0]} pixels, all formats open")
        browser.run(
            "document.querySelectorAll('article > details').forEach(d => { d.open = false })"
        )


BOX = f"document.querySelector('#t-{NAME} .try')"


def set_field(browser: Browser, field: str, value: object) -> None:
    browser.run(
        f"const field = {BOX}.querySelector('form').elements[arguments[0]];"
        "field.value = arguments[1];"
        "field.dispatchEvent(new Event('input', {bubbles: true}))",
        field,
        value,
    )


def part(browser: Browser, name: str) -> str:
    text = f"{BOX}.querySelector('[data-part={name}]').innerText"
    # JSON, as the driver can't tell half a character.
    return str(json.loads(browser.run(f"return JSON.stringify({text})")))


def open_box(browser: Browser, address: str) -> None:
    browser.open(f"{address}#t-{NAME}")
    wait_until(browser, f"{BOX}?.querySelector('form')", "the format's box is there")


def check_box(browser: Browser, address: str) -> None:
    """Parse what is offered, piece by piece, one's own text, and hostile text."""
    open_box(browser, address)
    check('"days\\": 3}' in part(browser, "message"), "a sample turn with calls is parsed")
    check("no problems" in part(browser, "summary"), "it has no problems")
    set_field(browser, "upTo", 3)
    check("So far" in part(browser, "summary"), "a slider leads back to the first pieces")
    check(browser.run(f"return {BOX}.querySelector('.k-unread').innerText"), "the rest is unread")
    set_field(browser, "piece", 1)
    rows = f"{BOX}.querySelectorAll('.events tbody tr').length"
    check(browser.run(f"return {rows}") > 100, "pieces of one character are told one by one")
    set_field(browser, "text", "<b onclick=alert(1)>Hi<tool_call>get_weather\n<arg_key>city")
    check('"content": "<b onclick=alert(1)>Hi"' in part(browser, "message"), "markup stays text")
    check("1. " in part(browser, "problems"), "its problem is told")
    browser.run(f"{BOX}.querySelector('.problems button').click()")
    check(browser.run(f"return {BOX}.querySelector('.place.shown')"), "and leads to its place")
    set_field(browser, "text", "<tool_call>" * 18_000)
    check("18000 problems" in part(browser, "summary"), "so many problems are no hang")
    check(" more" in part(browser, "problems"), "and those that aren't shown are counted")
    set_field(browser, "tools", "[")
    check("tools: not JSON" in part(browser, "fault"), "tools that aren't JSON are told")
    set_field(browser, "tools", '[{"a": 1}]')
    check("tools[0]" in part(browser, "fault"), "so are tools that are none")


def check_deviations(browser: Browser, address: str) -> None:
    """All texts that any format offers are read, in the browser."""
    open_box(browser, address)
    options = browser.run(f"return [...{BOX}.querySelectorAll('option')].map(each => each.value)")
    for option in options[1:]:
        set_field(browser, "chosen", option)
        if not part(browser, "summary").startswith("Read to the end") or part(browser, "fault"):
            sys.exit(f"failed: text {option} can't be read")
    check(len(options) > 50, f"all {len(options) - 1} texts that the box offers are read")


def check_link(browser: Browser, address: str) -> None:
    """A case comes back from its link, in a new page."""
    open_box(browser, address)
    text = "<think>It rains.\r\n</think>🦆 half \ud83d"
    state = {"text": text, "piece": 2, "upTo": 6, "thinking": False}
    link = quote(json.dumps(state))
    browser.open(f"{address}#t-{NAME}?{link}")
    wait_until(browser, f"{BOX}?.querySelector('form')", "a link leads to its box")
    check(part(browser, "message").count("It r") == 1, "a link leads to its case")
    set_field(browser, "piece", 3)
    time.sleep(0.5)  # the address waits a little
    shown = browser.run("return location.href")
    before = part(browser, "message"), part(browser, "reading")
    browser.open(shown)
    wait_until(browser, f"{BOX}?.querySelector('form')", "the address leads to the box")
    check((part(browser, "message"), part(browser, "reading")) == before, "so does the address")


def check_play(browser: Browser, address: str) -> None:
    """The pieces come by themselves; all by keyboard."""
    open_box(browser, address)
    set_field(browser, "piece", 20)
    browser.run(f"{BOX}.querySelector('button[name=play]').focus()")
    browser.press("enter")
    wait_until(browser, f"{BOX}.querySelector('[data-part=summary]').innerText[0] == 'S'", "plays")
    wait_until(browser, f"{BOX}.querySelector('[data-part=summary]').innerText[0] == 'R'", "ends")
    check(True, "the pieces come one after the other")
    browser.run(f"{BOX}.querySelector('input[name=upTo]').focus()")
    browser.press("left")
    check("So far" in part(browser, "summary"), "an arrow key leads a piece back")


def check_hostile(browser: Browser, folder: Path) -> None:
    """No marker of a format becomes markup, wherever it is shown."""
    for number, hostile in enumerate(HOSTILE):
        root = folder / f"hostile{number}"
        entries, problems = read_entries(checkout(root, hostile_spec(hostile)))
        check(not problems, "a hostile format can be read")
        path = root / "report.html"
        path.write_text(render_page(entries, root="./"), encoding="utf-8")
        browser.open(f"{path.as_uri()}#t-tagged")
        wait_until(browser, "document.querySelector('#t-tagged .try form')", "its box is there")
        for at in range(len(entries[0].texts)):
            browser.run(
                "const field = document.querySelector('.try form').elements.chosen;"
                "field.value = arguments[0];"
                "field.dispatchEvent(new Event('input', {bubbles: true}))",
                str(at),
            )
        count = browser.run("return document.querySelectorAll('img, svg:not(.states), b b').length")
        check(count == 0, f"markup in markers stays text: {hostile[:30]}")


def check_server(browser: Browser, address: str) -> None:
    """A page that is served tells the states of the Python parser too."""
    open_box(browser, address)
    browser.run(f"document.querySelector('#t-{NAME} .ask').click()")
    steps = f"document.querySelector('#t-{NAME} .steps')"
    wait_until(browser, f"{steps}.innerText", "the server answers")
    told = str(browser.run(f"return {steps}.innerText"))
    check("call 0 starts: get_weather" in told, "the server tells the states")


def take_screenshots(browser: Browser, address: str) -> None:
    for scheme in ("light", "dark"):
        for kind, size in (("wide", WIDE), ("phone", PHONE)):
            browser.looks(size, scheme)
            open_box(browser, address)
            browser.run("window.scrollTo(0, 0)")
            browser.screenshot(f"report-index-{kind}-{scheme}")
            browser.run(f"document.getElementById('t-{NAME}').scrollIntoView()")
            time.sleep(0.2)
            browser.screenshot(f"report-format-{kind}-{scheme}")
            set_field(browser, "text", PICTURED)
            set_field(browser, "upTo", 18)
            browser.run(f"{BOX}.scrollIntoView()")
            time.sleep(0.2)
            browser.screenshot(f"report-box-{kind}-{scheme}")


def check_example(browser: Browser) -> None:
    """The page of examples/chat_page shows a stream as it comes, and what goes wrong."""
    replay = Replay([TURN[at : at + 4] for at in range(0, len(TURN), 4)])
    with replaying(replay, FOLDER) as address:
        browser.looks(PHONE, "dark")
        browser.open(f"{address}/index.html")
        ask = "const f = document.querySelector('form'); f.elements.address.value = arguments[0];"
        browser.run(f"{ask} f.requestSubmit()", f"{address}/v1/completions")
        end = "document.getElementById('end').innerText"
        wait_until(browser, end, "the example's page tells the end")
        told = browser.run("return document.querySelector('section').innerText")
        check("Paris 🦆." in told and "<b>now</b>" in told, "the example shows text as text")
        check('get_weather{"city": "Paris"}' in told, "and a call")
        check("finish reason: tool_calls" in told, "and why it ended")
        check("get_weather" in replay.asked[0]["prompt"], "it had asked with its tools")
        browser.screenshot("example-phone-dark")
        browser.run(f"{ask} f.requestSubmit()", "http://127.0.0.1:1/")
        wait_until(browser, f"{end}.includes('TypeError')", "no answer is told")


def main() -> None:
    """Check the file and the served page, and take their pictures."""
    entries, problems = read_entries(Project(ROOT))
    check(not problems, "all specs can be read")
    server = ReportServer(0)
    server.site = Site.of(entries)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder, new_browser() as browser:
        path = Path(folder) / "report.html"
        path.write_text(render_page(entries), encoding="utf-8")
        address = path.as_uri()
        browser.looks(WIDE, "light")
        browser.open(address)
        check_filters(browser, len(entries))
        check_keyboard(browser)
        check_widths(browser)
        for checks in (check_box, check_deviations, check_link, check_play):
            checks(browser, address)
        check_hostile(browser, Path(folder))
        check_server(browser, server.address)
        errors = browser.errors()
        check(not errors, f"the browser tells of no errors {errors or ''}")
        take_screenshots(browser, address)
        check_example(browser)
    server.shutdown()
    print(f"pictures: {BUILD}/report-*.png")


if __name__ == "__main__":
    main()
