"""The site's build, and what runs in its worker, without a browser: `make site-browser` has one."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import rpds
import typing_extensions
from website.bundle import archive
from website.docs import relinked, with_policy
from website.format_pages import format_pages
from website.history import histories
from website.worker import rpds as stand_in
from website.worker.session import LIMITS, Session, call

from tests.generated_formats import ROOT
from tests.test_report import HOSTILE, checkout, hostile_spec
from tests.typescript.toolchain import node
from turnspec.pipeline.folder import analyze_into
from turnspec.report.entries import read_entries
from turnspec.spec.results import RUNGS

TEMPLATE = ROOT / "tests/templates/json-in-tags.jinja"
OVERLAY = """\
template: json-in-tags.jinja
sha256: {sha256}
keys:
  - {{key: turn.stop, value: ["<|halt|>"], reason: a test, source: a test}}
"""


#: What a format's page has of tags.
TAGS = {"p", "code", "a", "pre", "span", "ul", "li", "br", "table", "caption", "thead", "tbody"}
TAGS |= {"tr", "th", "td"}


class Page:
    """A session, asked as the bridge asks it."""

    def __init__(self, folder: Path) -> None:
        self.told: list[tuple[str, dict[str, Any]]] = []
        self._session = Session(folder, {"templates": {}, "formats": {}})

    def ask(self, verb: str, **given: object) -> dict[str, Any]:
        def tell(kind: str, told: str) -> None:
            self.told.append((kind, json.loads(told)))

        found: dict[str, Any] = json.loads(call(self._session, verb, json.dumps(given), tell))
        return found


@pytest.mark.long  # `make site-browser` tries it in Chromium
def test_a_session_makes_what_the_commands_make(tmp_path: Path) -> None:
    page = Page(tmp_path / "made")
    (given,) = page.ask("read", path=str(TEMPLATE))["templates"]
    done = page.ask("build", **given)
    native = analyze_into([TEMPLATE], None, limits=LIMITS)
    assert done["files"] == dict(native.builds[0].files)
    assert done["judgement"] == {"standing": "verified", "reason": ""}
    kinds = [kind for kind, _ in page.told]
    assert kinds == ["spec", "parser", "grammar", *["rung"] * len(RUNGS)]
    assert [told["name"] for kind, told in page.told if kind == "rung"] == list(RUNGS)
    assert page.ask("parse", text="Hi", options={})["message"]["content"] == "Hi"
    (problem,) = page.ask("parse", text="<use_tool>", options={})["problems"]
    assert problem["kind"]
    assert "export" in page.ask("script", language="typescript")["files"]["json-in-tags.ts"]
    assert page.ask("diff", **given)["severity"] == "same"
    lines = page.ask("explain")["lines"]
    assert [["R1 ", "head"], ["how is reasoning shown?", ""]] in lines

    overlay = OVERLAY.format(sha256=page.told[0][1]["template"])
    changed = page.ask("build", **given, overlay=overlay, verify=False)
    assert "<|halt|>" in changed["files"]["json-in-tags.yaml"]
    wrong = page.ask("build", **given, overlay=overlay.replace("turn.stop", "turn"), verify=False)
    assert wrong["problems"]
    assert page.ask("parse", text="Hi<|halt|>", options={})["message"]["content"] == "Hi"


@pytest.mark.parametrize(
    "use",
    [
        lambda r: dict(r.HashTrieMap({"a": 1}).insert("b", 2).remove("a").update({"c": 3})),
        lambda r: dict(r.HashTrieMap.convert({"a": 1}).discard("x")),
        lambda r: sorted(r.HashTrieSet([1]).insert(2).discard(3).update([4])),
        lambda r: list(r.List([1, 2]).push_front(0).rest),
        lambda r: (r.List([1]).first, list(r.List([1]).drop_first()), r.List([1]) == r.List([1])),
        lambda r: hash(r.HashTrieSet([1, 2])) == hash(r.HashTrieSet([2, 1])),
    ],
)
def test_what_stands_in_for_rpds_does_the_same(use: Callable[[Any], object]) -> None:
    assert use(stand_in) == use(rpds)


def test_the_archive_is_enough_and_always_the_same(tmp_path: Path) -> None:
    made = archive({"known.json": "{}"})
    assert made == archive({"known.json": "{}"})
    assert len(made) < 2.5e6
    with zipfile.ZipFile(BytesIO(made)) as packed:
        assert not [name for name in packed.namelist() if name.endswith((".so", ".pyd"))]
        packed.extractall(tmp_path)
    # Which the browser's Python doesn't need.
    typing_file = Path(typing_extensions.__file__)
    (tmp_path / typing_file.name).write_bytes(typing_file.read_bytes())
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import website.worker.session, black"
    )
    done = subprocess.run(
        [sys.executable, "-ISc", code], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("link", "wanted"),
    [
        ("[a](export.md#x)", "[a](export.md#x)"),
        ("[a](../README.md#x)", "[a](../index.md#x)"),
        ("[a](../specs/glm.yaml)", "[a](../formats/glm.md)"),
        ("[a](../specs/README.md)", "[a](../formats/index.md)"),
        ("[a](../LICENSE)", "[a](https://host/x/blob/HEAD/LICENSE)"),
        ("![a](diff.png)", "![a](diff.png)"),
        ("[a](https://host/)", "[a](https://host/)"),
        ("```\n[a](../LICENSE)\n```", "```\n[a](../LICENSE)\n```"),
    ],
)
def test_links_of_docs_lead_to_pages(link: str, wanted: str) -> None:
    place = PurePosixPath("docs/page.md")
    assert relinked(link, place, {"glm"}, "https://host/x") == wanted


def test_without_a_repository_links_to_files_are_text() -> None:
    assert relinked("[a](LICENSE)", PurePosixPath("README.md"), set(), "") == "a"


def test_a_page_allows_its_own_scripts_alone() -> None:
    page = with_policy("<head></head><script>a()</script><style>b{}</style>")
    assert "script-src 'self' 'sha256-qVpDBgj7bpq5hMAcGp3AOc79J3Y1Z4HvySTwKrWDoy4='" in page
    assert "default-src 'none'" in page


class Tags(HTMLParser):
    """Collects the tags of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.add(tag)


def test_no_text_of_a_template_is_markup_on_a_formats_page(tmp_path: Path) -> None:
    project = checkout(tmp_path, hostile_spec("".join(HOSTILE)))
    entries, problems = read_entries(project)
    assert not problems
    page = dict(format_pages(entries, project))["tagged.md"]
    assert Tags(page).found <= TAGS
    blocks = page.split("```")  # no text ends a block of raw HTML
    assert len(blocks) % 2 == 1
    assert all(block.startswith("{raw} html\n") for block in blocks[1::2])


def test_a_format_has_its_history(tmp_path: Path) -> None:
    spec = tmp_path / "specs/glm-4-6.yaml"
    spec.parent.mkdir()
    text = (ROOT / "specs/glm-4-6.yaml").read_text("utf-8")

    def git(*arguments: str) -> None:
        settings = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", "-C", tmp_path, *settings, *arguments], check=True)

    git("init", "--quiet")
    for title, now in (
        ("It comes", text),
        ("Words", f"# Words\n{text}"),
        ("An end", text.replace("<|user|>", "<|person|>")),
    ):
        spec.write_text(now, "utf-8")
        git("add", "specs")
        git("commit", "--quiet", "-m", title)
    changed, first = histories(tmp_path)["glm-4-6"]
    assert (first.title, first.first) == ("It comes", True)
    assert changed.title == "An end"
    assert changed.changes
    assert histories(tmp_path / "specs/none") == {}


def test_a_state_comes_back_from_its_fragment() -> None:
    module = (ROOT / "website/playground/state.mjs").as_uri()
    code = f"""
import {{ fragmentOf, stateOf }} from {json.dumps(module)};
const state = {{ text: "half \\ud83d <b>", tab: "parse", evil: "x", bos: "" }};
const fragment = await fragmentOf(state);
const bomb = await fragmentOf({{ text: "x".repeat(5_000_000) }});
const others = ["", "#s=", "#s=abc", "#other", bomb];
const noise = Array.from({{ length: 90_000 }}, (_, at) => (at * 7919) % 65521).join();
console.log(JSON.stringify([await stateOf(fragment), await Promise.all(others.map(stateOf)),
  await fragmentOf({{ text: noise }})]));
"""
    done = subprocess.run(
        [node(), "--input-type=module", "-e", code], capture_output=True, text=True, check=True
    )
    found, others, too_long = json.loads(done.stdout)
    assert found == {"text": "half \ud83d <b>", "tab": "parse"}
    assert others == [None] * 5
    assert too_long is None
