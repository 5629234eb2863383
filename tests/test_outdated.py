"""Pinned templates that have a newer text: at the hub, and in packages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests import fake_index
from tests.fake_hub import CHANGED, TEMPLATE, FakeHub, fetched
from tests.fake_index import FakeIndex, origin_of, wheel_of
from tests.own_checkouts import EMPTY_INDEX
from tests.own_templates import FOLDER
from tests.test_cli import run_whole
from turnspec.analysis.source import TemplateSource
from turnspec.pipeline.trial import whole_spec
from turnspec.sources import pip_settings
from turnspec.sources.add import add_templates
from turnspec.sources.download import newest_origin
from turnspec.sources.fetch import fetch_templates
from turnspec.sources.index import INDEX_FILE, read_index
from turnspec.sources.pip_settings import PipSettings
from turnspec.sources.reading import SourceTemplate, read_templates
from turnspec.spec.files import dump_spec
from turnspec.spec.model import Spec
from turnspec.spec.words import Verdict

#: One whose calls are read where they are quoted, which its spec says as a limit.
CALLS = (FOLDER / "bare-json-call.jinja").read_text(encoding="utf-8")
WHEELS = [f"pack-{version}-py3-none-any.whl" for version in ("1.0", "1.9", "1.10", "2.0rc1")]


@cache
def spec(text: str) -> Spec:
    """Return the spec of a text that others have but for a comment."""
    found = whole_spec(TemplateSource("a", text, "a.jinja", "hub", {}))
    assert isinstance(found, Spec)
    return found


def write_spec(template: SourceTemplate) -> None:
    """Write the spec of a template as it is pinned."""
    found = spec(template.text.partition("{#of ")[0])
    of = replace(found.template, file=template.file, sha256=template.sha256)
    path = Path(f"specs/{template.name}.yaml")
    path.parent.mkdir(exist_ok=True)
    text = dump_spec(replace(found, name=template.name, template=of))
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def ten(hub: FakeHub) -> FakeHub:
    """A repository with ten pins, of which three have a newer text."""
    Path("templates").mkdir()
    Path(INDEX_FILE).write_text(EMPTY_INDEX, encoding="utf-8")
    for number in range(10):
        text = CALLS if number == 2 else TEMPLATE
        hub.add(f"Some/Model-{number}", {"chat_template.jinja": f"{text}{{#of {number}#}}"})
    for number in range(10):
        template = pinned(f"Some/Model-{number}")
        if number in (2, 5):
            write_spec(template)
    hub.add("Some/Model-1", {"chat_template.jinja": f"{TEMPLATE}{{#of 1#}}", "README.md": "new"})
    hub.add("Some/Model-2", {"chat_template.jinja": CALLS})
    hub.add("Some/Model-5", {"chat_template.jinja": CHANGED})
    hub.add("Some/Model-8", {"tokenizer_config.json": json.dumps({"chat_template": TEMPLATE})})
    return hub


def pinned(model: str) -> SourceTemplate:
    (template,), problems = read_templates(fetched(model))
    assert problems == []
    assert add_templates([template], Path()).problems == []
    return template


def test_ten_pins_of_which_three_moved(ten: FakeHub, few_turns: None) -> None:
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    done = run_whole("outdated", "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["pinned"], told["problems"]) == (1, 10, [])
    rows = {row["name"]: row for row in told["outdated"]}
    formats = {name: row["format"] for name, row in rows.items()}
    assert Verdict.OPEN in {limit.verdict for limit in spec(CALLS).limits}
    assert formats == {"model-2": "as it was", "model-5": "breaking", "model-8": "unknown"}
    assert rows["model-5"]["from"] == "Some/Model-5"
    assert rows["model-5"]["newest"] == next(iter(ten.models["Some/Model-5"].commits))
    assert rows["model-5"]["review"]["templates"][0]["severity"] == "breaking"
    after = {path: path.read_bytes() for path in before}
    assert before == after

    done = run_whole("outdated", "model-2", "model-3")
    assert done.stdout.endswith("2 pinned: 1 with a newer text, 0 of them with another format\n")
    assert done.stderr == "to take one: turnspec add --update model-2\n"
    done = run_whole("outdated", "model-3")
    assert (done.returncode, done.stdout) == (
        0,
        "1 pinned: 0 with a newer text, 0 of them with another format\n",
    )

    done = run_whole("add", "--update", "model-8")
    assert done.stdout == (
        "pinned templates/fetched/Model-8.jinja anew\n"
        "no spec of it is here yet that its format could be compared with\n"
        "now run: turnspec regen\n"
    )
    entry = read_index(Path())[0].by_name("model-8")
    assert entry is not None
    assert entry.path == "tokenizer_config.json"
    assert fetch_templates(Path(), offline=True).problems == []
    assert run_whole("outdated", "model-8").returncode == 0


def test_what_cannot_be_had(ten: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    ten.add("Some/Model-4", {"chat_template.jinja": "{% if %}"})
    ten.models.pop("Some/Model-3")
    done = run_whole("outdated", "model-3", "model-4")
    assert done.returncode == 1
    assert "model-4" in done.stdout
    gone, broken = done.stderr.splitlines()[1:]
    assert gone.startswith("error: Some/Model-3: is neither here nor at http://127.0.0.1")
    assert broken.startswith("error: Model-4.jinja")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    done = run_whole("outdated", "model-3")
    offline = "Some/Model-3: the hub isn't asked offline; take HF_HUB_OFFLINE away"
    assert done.stderr == f"error: {offline}\n"


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch, hub: FakeHub) -> Iterator[FakeIndex]:
    """A package index with versions of a package, of which the first is pinned."""
    packages = [wheel_of({"x/a.jinja": text}) for text in (TEMPLATE, "no", CHANGED, "no")]
    others = dict(zip(WHEELS, packages, strict=True))
    with fake_index.serving(FakeIndex([b""], file="other.whl", others=others)) as index:
        monkeypatch.setenv("PIP_INDEX_URL", index.url)
        monkeypatch.setattr(pip_settings, "_pip_config_list", str)  # pip takes a second to say it
        yield index


def test_a_newer_package(index: FakeIndex, few_turns: None) -> None:
    origin = origin_of(index.others[WHEELS[0]], WHEELS[0])
    settings = PipSettings(index_urls=(index.url,))
    newest = newest_origin(origin, settings)
    assert not isinstance(newest, str)
    assert (newest.id, newest.file) == ("pack-1.10", WHEELS[2])
    assert newest_origin(newest, settings) == newest

    Path("templates").mkdir()
    Path(INDEX_FILE).write_text(EMPTY_INDEX, encoding="utf-8")
    pin = {"origin": origin.id, "path": "x/a.jinja"}
    template = SourceTemplate("a", "a.jinja", TEMPLATE, "", pin=pin)
    assert add_templates([template], Path(), packages=[origin]).problems == []
    write_spec(template)
    done = run_whole("outdated", "--json")
    (row,) = json.loads(done.stdout)["outdated"]
    assert (row["from"], row["pinned"], row["newest"]) == ("pack", "1.0", "1.10")
    assert row["format"] == "breaking"

    done = run_whole("add", "--update", "a")
    assert done.stdout.startswith("pinned templates/fetched/a.jinja anew\na: breaking\n")
    pins, problems = read_index(Path())
    assert problems == []
    assert list(pins.origins) == ["pack", "pack-1.10"]
    assert [(e.origin, e.path) for e in pins.entries] == [("pack-1.10", "x/a.jinja")]
    Path("templates/fetched/a.jinja").unlink()
    assert fetch_templates(Path()).problems == []
    assert run_whole("outdated").returncode == 0


def test_a_package_that_nothing_is_told_of() -> None:
    origin = origin_of(b"x", WHEELS[0])
    nowhere = PipSettings(index_urls=("http://127.0.0.1:9/",), timeout=1)
    found = newest_origin(origin, nowhere)
    assert isinstance(found, str)
    assert found.startswith("http://127.0.0.1:9/: ")
    with fake_index.serving(FakeIndex([b"x"], file="pack-3.0-py3-none-any.whl")) as other:
        found = newest_origin(origin, PipSettings(index_urls=(other.url,)))
        place = f"{other.url.removesuffix('simple/')}files/pack-3.0-py3-none-any.whl"
    assert found == f"{place}: the index tells neither sha256 nor size; pin it by hand"
