"""The page of all formats: what is in it, and that nothing of a template is more than text."""

from __future__ import annotations

import base64
import hashlib
import html
import itertools
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.generated_formats import KINDS, NAMES, ROOT
from tests.specs_for_tests import json_native_spec, plain_spec, tagged_spec, write_results
from tests.test_review import opened_by_the_model
from turnspec.codegen.loading import load
from turnspec.codegen.printer.shared import facts_given
from turnspec.deviations.table import DEVIATIONS
from turnspec.deviations.turns import Case, Format
from turnspec.pipeline.build import generate_files
from turnspec.pipeline.project import RESULTS, OutputPaths, Project
from turnspec.report.entries import Entry, read_entries
from turnspec.report.packed import packed
from turnspec.report.page import render_page
from turnspec.report.texts import texts_to_try
from turnspec.spec.atomic import write_atomically
from turnspec.spec.calls import Literal
from turnspec.spec.files import spec_hash
from turnspec.spec.model import Spec
from turnspec.spec.results import (
    RUNGS,
    Counterexample,
    RungResult,
    TemplateResult,
)
from turnspec.spec.visible import visible

_EMPTY = frozenset({"meta", "link", "input", "col", "br"})  # elements that nothing closes
HOSTILE = (
    "</script><script>alert(1)</script>\"'><img src=//x.example onerror=alert(2)>{{ 7 * 7 }}",
    "<!--<script>]]></template></pre></textarea></style><svg onload=alert(3)>",
    '"><a href=javascript:alert(4)>{% raw %}</code>&lt;b&gt;\u2028\u202e${alert(5)}`',
)
MOST_BYTES = 2_000_000


@dataclass
class Element:
    """An element of a page, with the text of all that is in it."""

    name: str
    attributes: dict[str, str]
    text: list[str] = field(default_factory=list)

    @property
    def content(self) -> str:
        return "".join(self.text)


class Page(HTMLParser):
    """A page as its elements; one that isn't closed in order is a failure."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), attrs
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))
        if tag not in _EMPTY:
            self._open.append(self.elements[-1])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().name == tag

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text.append(data)

    def named(self, kind: str, /, **attributes: str) -> list[Element]:
        wanted = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
        return [
            element
            for element in self.elements
            if element.name == kind and wanted.items() <= element.attributes.items()
        ]


def entries_of(root: Path) -> Sequence[Entry]:
    found, problems = read_entries(Project(root))
    assert problems == []
    return found


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Entry]:
    """Return a few formats that have all there is, and two that are the same."""
    root = tmp_path_factory.mktemp("checkout")
    files = [ROOT / RESULTS, ROOT / "templates/index.yaml"]
    for name in {*KINDS, "qwen3-coder", "ibm-granite-granite-4-0", "ibm-granite-granite-4-1"}:
        paths = OutputPaths.in_project(name)
        files += [ROOT / path for path in (paths.spec, paths.module, paths.grammar)]
    for file in files:
        write_atomically(root / file.relative_to(ROOT), file.read_text(encoding="utf-8"))
    return entries_of(root)


def whole(text: str) -> Page:
    """Return a page as it is when all formats are open: with what its script unpacks."""
    more = data_of(Page(text))["more"]
    opened = re.sub(
        r'(<article id="t-([^"]+)".*?<div class="more">)(?=</div>)',
        lambda found: found[1] + more[html.unescape(found[2])],
        text,
        flags=re.DOTALL,
    )
    return Page(opened)


def unpacked(text: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(text)))


def data_of(page: Page) -> Any:
    (data,) = page.named("script", id="data")
    return unpacked(data.content)


@pytest.fixture(scope="module")
def text(entries: Sequence[Entry]) -> str:
    return render_page(entries)


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return whole(text)


def checkout(root: Path, *specs: Spec) -> Project:
    for spec in specs:
        for path, text in generate_files(spec, OutputPaths.in_project(spec.name)).items():
            write_atomically(root / path, text)
    return Project(root)


def page_of(root: Path, *specs: Spec, served: bool = False) -> Page:
    entries, problems = read_entries(checkout(root, *specs))
    assert problems == []
    return whole(render_page(entries, served=served))


@pytest.mark.long
def test_every_format_is_in_it() -> None:
    text = render_page(entries_of(ROOT))
    page = whole(text)
    rows = [
        row.attributes["data-name"] for row in page.named("tr") if "data-name" in row.attributes
    ]
    articles = [article.attributes["data-name"] for article in page.named("article")]
    assert rows == articles
    assert sorted(rows) == NAMES
    assert len(text.encode()) <= MOST_BYTES
    given = all_texts(data_of(page))
    assert set(DEVIATIONS) <= {f"{group}: {title.partition(' (')[0]}" for group, title in given}


def test_formats_that_are_the_same_lead_to_each_other(page: Page, entries: Sequence[Entry]) -> None:
    by_name = {entry.name: entry for entry in entries}
    assert by_name["ibm-granite-granite-4-0"].same == ("ibm-granite-granite-4-1",)
    assert by_name["qwen3-coder"].same == ()
    for entry, article in zip(entries, page.named("article"), strict=True):
        told = f"The same format, and so the same parser, has {', '.join(entry.same)}."
        rows = page.named("tr", class_="same", data_name=entry.name)
        assert [f"the same format as {entry.first}" in row.content for row in rows] == [True] * (
            entry.name != entry.first
        )
        assert (told in article.content) == bool(entry.same)
        for name in entry.same:
            assert page.named("a", href=f"#t-{name}")
    names = [entry.name for entry in entries]
    for entry in entries:
        first = names.index(entry.first)
        assert entry.name in names[first : first + len(entry.same) + 1]


def test_an_entry_shows_all_there_is(page: Page, entries: Sequence[Entry]) -> None:
    for entry, article in zip(entries, page.named("article"), strict=True):
        for sample in entry.samples:
            label = f"{sample.title} of {entry.name}"
            (turn,) = page.named("pre", aria_label=label)
            assert turn.content == sample.text
        (grammar,) = page.named("pre", aria_label=f"Grammar of {entry.name}")
        assert grammar.content == visible(entry.grammar.removeprefix("\n"), "\n")
        for facts in entry.facts.values():
            assert all(name in article.content and text in article.content for name, text in facts)
        for state in entry.machine.states:
            assert state.about in article.content
        assert len(entry.rungs) == len(RUNGS)
        assert article.content.count("✓") == len(RUNGS)
        markers = [marker for step in entry.machine.transitions for marker in step.markers]
        codes = {code.content for code in page.named("code")}
        assert set(filter(None, markers)) <= codes
        assert f"turnspec vendor {entry.name} --into DIR" in codes
    assert not re.search(r"\band \d+ more", "".join(each.content for each in page.named("main")))


def test_words_of_the_index_are_explained(page: Page, entries: Sequence[Entry]) -> None:
    told = [element.content for element in page.elements if element.name in ("dt", "dd")]
    words = dict(itertools.pairwise(told))
    assert words["FORCED_CLOSED"] == (
        "the prompt opens it, and closes it again when thinking is off"
    )
    for entry in entries:
        for word in (entry.reasoning, entry.calls, entry.values):
            assert words[word]
            assert page.named("td", title=words[word])


def test_a_search_that_finds_nothing_says_so(page: Page) -> None:
    (told,) = page.named("p", id="none")
    assert "hidden" in told.attributes
    assert told.content == "No format fits. Show all"


def test_a_format_leads_to_its_files(tmp_path: Path, entries: Sequence[Entry]) -> None:
    shown = Page(render_page(entries, root="../over there/"))
    qwen = {
        "specs/qwen3-coder.yaml": "../over%20there/specs/qwen3-coder.yaml",
        "generated/qwen3_coder.py": "../over%20there/generated/qwen3_coder.py",
        "generated/qwen3-coder.gbnf": "../over%20there/generated/qwen3-coder.gbnf",
    }
    for name, link in qwen.items():
        (found,) = shown.named("a", href=link)
        assert found.content == name
    origin = shown.named("a", href="https://pypi.org/project/llama-cpp-python/0.3.36/")
    assert any("models/templates/Qwen3-Coder.jinja of llama" in link.content for link in origin)
    without = Page(render_page(entries))
    assert not any("specs/" in link.attributes.get("href", "") for link in without.named("a"))
    assert "specs/qwen3-coder.yaml" in "".join(
        article.content for article in without.named("article")
    )


def test_its_boxes_have_the_tables_and_texts_to_try(page: Page, entries: Sequence[Entry]) -> None:
    data = data_of(page)
    for entry in entries:
        assert data["facts"][entry.name] == facts_given(entry.read_by)
        groups = [text[0] for text in data["texts"][entry.name]]
        assert groups.count("sample turns") == len(entry.samples)
        for _, _, text, prefill, tools in data["texts"][entry.name]:
            assert isinstance(text, str)
            assert prefill is None or isinstance(prefill, str)
            assert isinstance(data["tools"][tools], list)


def all_texts(data: Any) -> Iterator[tuple[str, str]]:
    return ((group, title) for texts in data["texts"].values() for group, title, *_ in texts)


def test_a_deviation_that_a_strange_format_cannot_have_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = plain_spec()
    usual = texts_to_try(spec, load(spec))

    def impossible(form: Format) -> Iterator[Case]:
        yield from ()
        raise IndexError(form.spec.name)

    monkeypatch.setitem(DEVIATIONS, "calls: impossible", impossible)
    assert texts_to_try(spec, load(spec)) == usual


def test_what_is_packed_comes_back(tmp_path: Path) -> None:
    spec = plain_spec()
    (entry,), _ = read_entries(checkout(tmp_path, spec))
    odd = "half \ud83d, \u2028, </script>, é"
    data = unpacked(packed([entry], {spec.name: odd}))
    assert data["more"] == {spec.name: odd}


def test_markers_have_their_kinds(page: Page) -> None:
    marks = {element.content for element in page.named("span", class_="k-call-mark")}
    assert {"<tool_call>\n<function=", "<|tool_call:end|><|calls|>"} <= marks
    names = {element.content for element in page.named("span", title="name")}
    assert names == {"get_weather", "get_time"}


def test_it_needs_nothing_else(page: Page, text: str) -> None:
    """No link, image, font or script from anywhere, and no style or script but the page's own."""
    for element in page.elements:
        for name, value in element.attributes.items():
            if name in ("href", "src", "action", "srcset", "data", "poster", "formaction"):
                own = value.startswith(("#", "data:,", "https://pypi.org/project/"))
                assert own, f"{element.name} {name}={value}"
            assert not name.startswith("on")
            assert name != "style"
    assert {element.name for element in page.elements}.isdisjoint(
        {"img", "iframe", "object", "embed", "base"}
    )
    (style,), (script,) = page.named("style"), page.named("script", type="module")
    assert len(page.named("script")) == 2
    assert not re.search(r"^import\b", script.content, re.MULTILINE)
    assert "<script" not in script.content
    assert "<!--" not in script.content
    assert not re.search(r"url\(|@import", style.content)
    assert "://" not in script.content + style.content
    (policy,) = page.named("meta", http_equiv="Content-Security-Policy")
    for kind, element in (("style", style), ("script", script)):
        digest = base64.b64encode(hashlib.sha256(element.content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}';" in policy.attributes["content"]
    assert "default-src 'none'" in policy.attributes["content"]
    assert "connect-src 'none'" in policy.attributes["content"]
    assert text.startswith("<!doctype html>\n")


def test_links_and_labels_lead_somewhere(page: Page) -> None:
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    for element in page.elements:
        for name in ("href", "for", "aria-labelledby"):
            target = element.attributes.get(name, "#").removeprefix("#")
            own = not target or target in ids or target == "data:,"
            assert own or target.startswith("https://pypi.org/project/"), (element.name, target)


def test_what_scrolls_can_be_reached_by_keyboard(page: Page) -> None:
    for element in page.named("pre"):
        assert element.attributes["tabindex"] == "0"
        assert element.attributes["aria-label"]


def test_it_looks_good_in_the_dark_and_on_a_phone(page: Page) -> None:
    assert page.named("meta", name="viewport", content="width=device-width, initial-scale=1")
    (style,) = page.named("style")
    assert "@media (prefers-color-scheme: dark)" in style.content
    assert "@media (max-width: 48rem)" in style.content


def test_colours_can_be_told_from_the_page(page: Page) -> None:
    """Text has a contrast of at least 4.5 to 1 to what it stands on, as WCAG AA asks."""
    (style,) = page.named("style")
    light, dark = re.findall(r":root \{(.*?)\}", style.content, re.DOTALL)
    for block in (light, dark):
        colours = dict(re.findall(r"--([\w-]+): (#\w{6})", block))
        grounds = [colours.pop(name) for name in ("page", "raised", "code")]
        colours.pop("edge")
        for name, colour in colours.items():
            for ground in grounds[:2]:
                assert contrast(colour, ground) >= 4.5, f"{name} {colour} on {ground}"


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_every_part_has_a_colour(page: Page) -> None:
    (style,) = page.named("style")
    for element in page.named("span"):
        kind = element.attributes.get("class", "")
        assert not kind.startswith("k-") or f".{kind}" in style.content


def test_filters_offer_what_there_is(page: Page, entries: Sequence[Entry]) -> None:
    options = [option.content for option in page.named("option")]
    for entry in entries:
        assert {entry.reasoning, entry.calls, entry.values} <= set(options)
    names = [element.attributes["name"] for element in page.named("select")]
    assert names == ["calls", "reasoning", "values", "verified", "chosen", "thinking"]
    (row,) = page.named("tr", data_name="qwen3-coder")
    assert {key: value for key, value in row.attributes.items() if key != "data-name"} == {
        "data-file": "Qwen3-Coder.jinja",
        "data-aliases": "",
        "data-packager": "",
        "data-reasoning": "NONE",
        "data-calls": "TAG_WITH_TAGGED",
        "data-values": "RAW",
        "data-verified": "yes",
    }


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("served", [False, True])
def test_hostile_text_stays_text(tmp_path: Path, hostile: str, served: bool) -> None:
    page = page_of(tmp_path, hostile_spec(hostile), served=served)
    assert [script.attributes["type"] for script in page.named("script")] == [
        "application/octet-stream",
        "module",
    ]
    assert page.named("img") == page.named("a", href="javascript:alert(4)") == []
    assert not any(name.startswith("on") for item in page.elements for name in item.attributes)
    (article,) = page.named("article")
    assert article.content.count(visible(hostile, "\n\t")) > 3
    data = data_of(page)
    assert any(hostile in text for _, _, text, *_ in data["texts"]["tagged"])


def test_no_sign_of_a_template_deceives_a_reader_of_the_page(tmp_path: Path) -> None:
    page = page_of(tmp_path, hostile_spec("\u202eA\u2066\u200b\x9b\x1b\ufeff"))
    attributes = (value for item in page.elements for value in item.attributes.values())
    text = "".join([*page.named("main")[0].content, *attributes])
    assert not {sign for sign in text if not (sign.isprintable() or sign in "\n\t")}
    assert r"\u202EA\u2066\u200B\x9B\x1B\uFEFF" in text


def hostile_spec(hostile: str) -> Spec:
    """Return a format whose markers, and the name of whose template, hold a text."""
    spec = opened_by_the_model(tagged_spec())
    assert spec.tools is not None
    first, *others = spec.tools.call
    assert isinstance(first, Literal)
    return replace(
        spec,
        template=replace(spec.template, file=f"{hostile}.jinja"),
        reasoning=replace(spec.reasoning, start=f"{hostile}\n"),
        tools=replace(spec.tools, call=(Literal(hostile + first.text), *others)),
    )


def test_only_a_served_page_asks_a_server(tmp_path: Path) -> None:
    file, served = (page_of(tmp_path, plain_spec(), served=served) for served in (False, True))
    scripts = [page.named("script", type="module")[0].content for page in (file, served)]
    assert ["fetch(" in script for script in scripts] == [False, True]
    assert [len(page.named("button", class_="ask")) for page in (file, served)] == [0, 1]
    for page in (file, served):
        boxes = [box.attributes["name"] for box in page.named("textarea")]
        assert boxes == ["text", "tools", "prefill"]
    (policy,) = served.named("meta", http_equiv="Content-Security-Policy")
    assert "connect-src 'self'" in policy.attributes["content"]


def test_results_are_told(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    good, bad, stale, none = (
        replace(json_native_spec(), name=name) for name in ("good", "bad", "stale", "none")
    )
    project = checkout(tmp_path, good, bad, stale, none)
    passed = dict.fromkeys(RUNGS, RungResult(7, 0))
    failed = passed | {
        "1": RungResult(5, 2, Counterexample("a <b>", wanted="a <b>", got="a c"), note="a note")
    }
    results = {
        "good": TemplateResult(spec_hash(good), "1", rungs=passed),
        "bad": TemplateResult(spec_hash(bad), "1", rungs=failed),
        "stale": TemplateResult("0" * 64, "1", rungs=passed),
    }
    write_results(project.root / RESULTS, results)
    entries, problems = read_entries(project)
    assert problems == []
    verified = {entry.name: entry.verified for entry in entries}
    assert verified == {"bad": False, "good": True, "none": False, "stale": False}
    tables = [table.content for table in whole(render_page(entries)).named("table", class_="rungs")]
    shown = [re.sub(r"\s*\n\s*", "\n", table).strip() for table in tables]
    assert shown == snapshot


def test_what_cannot_be_used_is_told_and_the_rest_is_shown(tmp_path: Path) -> None:
    project = checkout(tmp_path, plain_spec(), tagged_spec(), json_native_spec())
    (tmp_path / "specs/broken.yaml").write_text("- 1\n", encoding="utf-8")
    (tmp_path / "generated/tagged.py").write_text("class Other: ...\n", encoding="utf-8")
    (tmp_path / "generated/json-native.gbnf").unlink()
    (tmp_path / "specs/verification.json").write_text("{", encoding="utf-8")
    entries, problems = read_entries(project)
    assert [entry.name for entry in entries] == ["plain"]
    told = [str(problem) for problem in problems]
    assert told[0].startswith(f"{tmp_path}/specs/verification.json:1: not JSON: ")
    assert told[1].startswith(f"{tmp_path}/specs/broken.yaml:1: ")
    assert told[2:] == [
        "generated/json-native.gbnf: there is no such file or folder",
        "generated/tagged.py: not a parser that turnspec generated; run: turnspec regen",
    ]
