"""The site in a real browser: `make site-browser`. Needs Chromium and its driver.

Takes the site in build/site. Writes screenshots to build/, light and dark, wide and as on a phone,
for a person to look at.
"""

from __future__ import annotations

import base64
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from gguf import GGUFWriter
from website.worker.session import LIMITS

from tests.browser import BUILD, PHONE, WIDE, check, new_browser
from tests.generated_formats import ROOT
from tests.playground_page import MESSAGE, Playground, serving
from turnspec.catalog.catalog import Catalog
from turnspec.pipeline.folder import analyze_into

SITE = ROOT / "build/site"
#: Of different classes: tags around JSON, tagged values, calls with ids, a call in code, reasoning.
TEMPLATES = (
    "json-in-tags",
    "tagged-parameters",
    "json-array-with-ids",
    "python-calls",
    "reasoning-block",
)


def native(path: Path) -> dict[str, str]:
    """Return the files that `turnspec analyze` makes of a template."""
    done = analyze_into([path], None, limits=LIMITS)
    return dict(done.builds[0].files)


def check_templates(page: Playground) -> None:
    """Five templates of different classes, end to end: as natively, to the byte."""
    for name in TEMPLATES:
        path = ROOT / f"tests/templates/{name}.jinja"
        told = page.analyse(path.name, path.read_text("utf-8"))
        check(told.startswith(f"{name}: verified"), told)
        spec, module, grammar = native(path).values()
        check(page.text("#panel-spec > pre") == spec, f"the spec of {name} is as natively")
        check(page.text("#panel-parser > pre") == module, "its parser is")
        check(same_rules(page.text("#panel-grammar > pre"), grammar), "its grammar is")
        check(page.count("#panel-proof tbody tr") == 6, "there are six rungs")
        check(page.count(".samples .turn span") > 2, "sample turns are in colour")
        page.put("[name=language]", "typescript")
        page.wait(
            "document.querySelector('#panel-parser > pre').textContent.startsWith('//')", "ts"
        )
        check("export " in page.text("#panel-parser > pre"), "there is a parser in TypeScript")
        page.put("[name=language]", "python")


def same_rules(shown: str, wanted: str) -> bool:
    """Compare grammars but for how a class writes signs that only a newer Python can print."""

    def plain(text: str) -> list[str]:
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        return [re.sub(r"\\u([0-9A-F]{4})", lambda f: chr(int(f[1], 16)), line) for line in lines]

    return plain(shown) == plain(wanted)


def check_panels(page: Playground) -> None:
    """Each panel does what it says, for a template with reasoning and calls."""
    path = ROOT / "tests/templates/json-in-tags.jinja"
    page.analyse(path.name, path.read_text("utf-8"))
    page.show("explain")
    page.wait(
        "/R1 how is reasoning/.test(document.querySelector('#panel-explain').innerText)", "it"
    )
    check(True, "each finding is explained")
    page.show("parse")
    page.wait(f"{MESSAGE}.includes('get_weather')", "a sample is read")
    page.put("#output", "<ponder>\nHm.\n</ponder>\n\nHi <b>there</b><use_tool>")
    page.wait(f"{MESSAGE}.includes('Hi <b>there</b>')", "what is typed is read")
    check(page.count("[data-part=parse-problems] li"), "and what deviates is told")
    check_overlay(page)
    page.show("compare")
    other = ROOT / "tests/templates/tagged-parameters.jinja"
    page.put("#other", other.read_text("utf-8"))
    page.click("[name=compare]")
    verdict = "document.querySelector('#panel-compare .verdict').textContent"
    page.wait(f"{verdict} === 'breaking'", "two templates are compared")
    reasons = page.text("#panel-compare > pre")
    check("grammar-refuses" in reasons, f"with the reasons: {reasons[:200]}")
    page.show("issue")
    issue = page.text("#panel-issue > pre")
    check("fingerprint: " in issue and "Hi <b>there</b>" in issue, "an issue has the case in it")
    page.run("document.body.dataset.repository = 'https://host.example/x'")
    page.show("issue")
    link = urlsplit(str(page.run("return document.querySelector('#file-issue').href")))
    query = parse_qs(link.query)
    check(link.path == "/x/issues/new" and query["template"] == ["output.yml"], "a form is filled")
    check("Hi <b>there</b>" in query["report"][0], "with the case")


def check_overlay(page: Playground) -> None:
    """An overlay's keys are put over the spec as they are typed, and what is wrong is told."""
    page.show("overlay")
    page.click("[name=draft]")
    page.wait(
        "document.querySelector('#panel-overlay > pre').textContent.includes('<|end|>')", "it"
    )
    check("<|end|>" in page.text("#panel-spec > pre"), "an overlay's keys are in the spec")
    page.finished()
    check(page.count("#steps .failed, #steps .running") == 0, "and nothing is called failed")
    begun = str(page.run("return document.querySelector('#overlay').value"))
    page.put("#overlay", begun.replace("turn.stop", "turn.stops"))
    page.wait("document.querySelector('[data-part=overlay-problems] li')", "a problem is told")
    check("stops" in page.text("[data-part=overlay-problems]"), "a key that there isn't is told")
    check(page.run("return document.querySelector('#panel-overlay').offsetHeight > 0"), "in place")
    page.click("[name=clear]")
    page.wait(
        "!document.body.hasAttribute('data-running') &&"
        " !document.querySelector('#panel-spec > pre').textContent.includes('<|end|>')",
        "an overlay can be left out again",
    )


#: What a template may try, and what is said of it.
HOSTILE = {
    "output": ("{% for i in range(99999) %}{{ 'x' * 9999 }}{% endfor %}", "more than"),
    "depth": ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", ""),
    "memory": ("{{ ('x' * 2000000000)|length }}{{ messages }}", "memory"),
    "markup": ("<img src=x onerror=alert(1)>{% for m in messages %}<b id=evil>{{ m.content }}</b>"
               "{% endfor %}", ""),
    "loop": ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}"
             "{% endfor %}", "took"),
}  # fmt: skip


def check_hostile(page: Playground) -> None:
    """A hostile template is refused, or ended; the page lives on, and none of it is markup."""
    for name, (text, said) in HOSTILE.items():
        told = page.analyse(f"{name}.jinja", text) + page.text("#problems")
        check(said in told, f"a template that tries {name} is told of: {told[:150]}")
        check(page.count("img, #evil, main b b") == 0, "nothing of it is markup")
    check("Python is loaded anew" in page.text("#status"), "it is ended")
    path = ROOT / "tests/templates/reasoning-block.jinja"
    check(
        "verified" in page.analyse(path.name, path.read_text("utf-8")), "another is analysed then"
    )
    page.put("#template", HOSTILE["loop"][0])
    page.click("[name=go]")
    page.wait("document.body.hasAttribute('data-running')", "it runs")
    page.click("[name=stop]")
    page.wait("!document.body.hasAttribute('data-running')", "it stops")
    check("stopped" in page.text("#status"), "a person can stop it")


def check_files(page: Playground) -> None:
    """A GGUF file, of which only the header is read, and a tokenizer's configuration."""
    text = (ROOT / "tests/templates/json-in-tags.jinja").read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder:
        header = gguf_header(Path(folder) / "model.gguf", text)
    check(len(header) > 1_500_000, f"the header is {len(header) / 1e6:.1f} MB")
    give = (
        "const bytes = Uint8Array.from(atob(arguments[0]), letter => letter.charCodeAt(0));"
        "const parts = [bytes, ...Array(arguments[2]).fill(new Uint8Array(2 ** 26))];"
        "const given = new DataTransfer();"
        "given.items.add(new File(parts, arguments[1]));"
        "document.querySelector('#status').textContent = '';"
        "if (arguments[2]) {"
        "  const field = document.querySelector('[name=file]'); field.files = given.files;"
        "  field.dispatchEvent(new Event('change'));"
        "} else dispatchEvent(new DragEvent('drop', {dataTransfer: given, cancelable: true}));"
    )
    page.run(give, base64.b64encode(header).decode(), "model.gguf", 16)
    page.finished()
    check("verified" in page.text("#status"), f"a GGUF file of 1 GB: {page.text('#status')}")
    check(
        page.run("return document.querySelector('#source').elements.eos.value") == "</s>", "tokens"
    )
    config = json.dumps({"chat_template": text, "eos_token": "<:end:>"}).encode()
    page.run(give, base64.b64encode(config).decode(), "tokenizer_config.json", 0)
    page.finished()
    check("verified" in page.text("#status"), "a tokenizer_config.json, dropped")
    spec = page.text("#panel-spec > pre")
    check("<:end:>" in spec and "\nname: model\n" in spec, "with its tokens, and a name")


def gguf_header(path: Path, template: str) -> bytes:
    """Return a GGUF file without tensors, whose vocabulary is as long as real ones are."""
    writer = GGUFWriter(path, "llama")
    writer.add_token_list(["<s>", "</s>", *(f"word number {at}" for at in range(100_000))])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_chat_template(template)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path.read_bytes()


def check_known(page: Playground) -> None:
    """A known format is named: here by its fingerprint, as its template has another text."""
    known = Catalog.around(ROOT).formats["qwen3-coder"]
    path = ROOT / "templates/fetched" / known.template_file
    if not path.exists():
        print("left out, as it isn't fetched: a known template")
        return
    page.analyse(path.name, path.read_text("utf-8"))
    check("qwen3-coder" in page.text("#known"), "a known template is named")
    page.analyse(path.name, path.read_text("utf-8") + "{# mine #}")
    check(
        "writes the format of: qwen3-coder" in page.text("#known"), "so is a format that is known"
    )


def check_link(page: Playground) -> None:
    """What one sees comes back from its link."""
    path = ROOT / "tests/templates/json-in-tags.jinja"
    page.analyse(path.name, path.read_text("utf-8"))
    page.show("parse")
    page.put(
        "#output",
        "half \ud83d of it 🦆\r\n<use_tool>".encode("utf-16", "surrogatepass").decode(
            "utf-16", "replace"
        ),
    )
    page.wait(f"{MESSAGE}.includes('half')", "an output is read")
    time.sleep(1)
    fragment = str(page.run("return location.hash"))
    spec, message = page.text("#panel-spec > pre"), page.text("#panel-parse > pre")
    page.open(fragment)
    page.finished()
    page.wait(f"{MESSAGE}.includes('half')", "a link's output is read")
    check(page.text("#panel-spec > pre") == spec, f"a link of {len(fragment)} signs shows the spec")
    check(page.text("#panel-parse > pre") == message, "and the message")
    check(page.run("return document.querySelector('#panel-parse').offsetHeight > 0"), "and the tab")
    page.open("#s=abcdef")
    page.ready()
    check(True, "a link that is broken is none")


def check_keyboard(page: Playground) -> None:
    """All is reached, and done, by keys."""
    page.open()
    page.ready()
    browser = page.browser
    browser.run("document.querySelector('[name=example]').focus()")
    browser.press("enter")
    page.finished()
    check("verified" in page.text("#status"), "the example is analysed")
    browser.run("document.querySelector('#tab-spec').focus()")
    browser.press("right")
    focused = "return document.activeElement.id"
    check(browser.run(focused) == "tab-proof", "an arrow key opens the next tab")
    check(
        page.run("return document.querySelector('#panel-proof').offsetHeight > 0"), "and its panel"
    )
    browser.press("left", "left")
    check(browser.run(focused) == "tab-issue", "and goes around")
    browser.run("document.querySelector('.skip').focus()")
    browser.press("enter")
    seen = set()
    for _ in range(9):
        browser.press("tab")
        seen.add(
            browser.run("return document.activeElement.name || document.activeElement.tagName")
        )
    check({"file", "name", "go", "example"} <= seen, f"the form by the tab key: {sorted(seen)}")


def check_docs(page: Playground) -> None:
    """The docs have a search, and all pages fit a phone."""
    browser, address = page.browser, page.address
    browser.open(f"{address}/search.html?q=overlay")
    for _ in range(100):
        if "matching the search query" in browser.run("return document.body.innerText"):
            break
        time.sleep(0.1)
    found = browser.run("return document.querySelectorAll('ul.search li').length")
    check(found > 3, f"the docs are searched: {found} pages")
    for size in (WIDE, PHONE, (320, 700)):
        browser.looks(size, "dark")
        for name in (
            "index",
            "formats/index",
            "formats/qwen3-coder",
            "docs/commands",
            "gallery/index",
            "playground/index",
        ):
            browser.open(f"{address}/{name}.html")
            excess = browser.run(
                "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            check(excess <= 0, f"nothing of {name} sticks out at {size[0]} pixels")
    browser.looks(WIDE, "light")
    browser.open(f"{address}/formats/qwen3-coder.html")
    headings = browser.run(
        "return [...document.querySelectorAll('h2')].map(each => each.innerText)"
    )
    wanted = ("Sample turns", "To serve it", "Limits", "Exports", "Changes")
    check(
        all(any(h.startswith(w) for h in headings) for w in wanted), f"a format's page: {headings}"
    )
    check(
        browser.run("return document.querySelectorAll('.turn span').length"), "its turns in colour"
    )


def take_pictures(page: Playground) -> None:
    """Take pictures of the site, for a person to look at."""
    path = ROOT / "tests/templates/json-in-tags.jinja"
    browser = page.browser
    for scheme in ("light", "dark"):
        for kind, size in (("wide", WIDE), ("phone", PHONE)):
            browser.looks(size, scheme)
            for name in ("index", "formats/qwen3-coder", "gallery/index"):
                browser.open(f"{page.address}/{name}.html")
                time.sleep(0.5)
                browser.screenshot(f"site-{name.replace('/', '-')}-{kind}-{scheme}")
            page.open()
            page.ready()
            page.analyse(path.name, path.read_text("utf-8"))
            browser.screenshot(f"site-playground-{kind}-{scheme}")
            for tab in ("proof", "samples", "parse", "overlay"):
                page.show(tab)
                page.run("document.querySelector('#results').scrollIntoView()")
                time.sleep(0.5)
                browser.screenshot(f"site-{tab}-{kind}-{scheme}")


CHECKS = (
    *(check_templates, check_panels, check_hostile, check_known, check_link),
    *(check_keyboard, check_files, check_docs),
)


def main(names: list[str]) -> None:
    """Check the site, and take its pictures; or make some checks alone, by their names."""
    if not (SITE / "playground/index.html").exists():
        sys.exit("there is no site: make site")
    with new_browser() as browser:
        with serving(SITE) as server:
            browser.looks(WIDE, "light")
            page = Playground(browser, server.address)
            start = time.monotonic()
            page.open()
            page.ready()
            loaded, took = sum(size for _, size in server.sent), time.monotonic() - start
            check(loaded <= 20e6, f"the first load is {loaded / 1e6:.1f} MB; {took:.1f} s")
            for checks in CHECKS if not names else (globals()[f"check_{name}"] for name in names):
                checks(page)
            if not names:
                take_pictures(page)
        browser.looks(WIDE, "light")
        page.open()
        page.ready()
        path = ROOT / "tests/templates/python-calls.jinja"
        check("verified" in page.analyse(path.name, path.read_text("utf-8")), "offline, all works")
        errors = browser.errors()
        check(not errors, f"the browser tells of no errors {errors or ''}")
    for name, (spec, verified) in page.times.items():
        print(f"{name}: spec after {spec} s, verified after {verified} s")
    print(f"load of the machine: {os.getloadavg()[0]:.1f}; pictures: {BUILD}/site-*.png")


if __name__ == "__main__":
    main(sys.argv[1:])
