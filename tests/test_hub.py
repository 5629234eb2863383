"""Templates of models on the hub: what is asked, of whom, and what is said where it goes wrong."""

from __future__ import annotations

import json
import shutil
import struct
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import turnspec
from tests import fake_hub
from tests.fake_hub import CHANGED, FILES, NEW, TEMPLATE, TOKEN, FakeHub, Fault, fetched, settings
from tests.generated_formats import ROOT
from tests.own_checkouts import EMPTY_INDEX
from tests.test_cli import run, run_whole
from turnspec.sources.fetch import fetch_templates
from turnspec.sources.hub import fetch_model
from turnspec.sources.hub_place import HubModel, HubPlace
from turnspec.sources.hub_settings import hub_settings
from turnspec.sources.index import INDEX_FILE, Entry, read_index
from turnspec.sources.reading import SourceTemplate, read_templates
from turnspec.spec.problems import Problem

FIRST = "tokenizer_config.json"


def templates_of(asked: str = NEW) -> list[SourceTemplate]:
    templates, problems = read_templates(fetched(asked))
    assert problems == []
    return templates


def said(asked: str, **changes: object) -> str:
    """Return what is said of a model whose templates can't be had, or can't be read."""
    model = HubModel.read(asked)
    assert model is not None
    to_keep = bool(changes.pop("to_keep", False))
    found = fetch_model(model, settings(**changes), to_keep=to_keep)
    if isinstance(found, Path):
        _, (found, *_) = read_templates(found)
    return str(found)


def on_file(fault: Fault) -> Callable[[FakeHub], None]:
    return lambda hub: hub.faults.update({f"/{FIRST}": fault})


def on_info(fault: Fault) -> Callable[[FakeHub], None]:
    return lambda hub: hub.faults.update({"/api/models/": fault})


def only(files: Mapping[str, str | bytes]) -> Callable[[FakeHub], None]:
    """Have the model hold these files alone."""

    def emptied(hub: FakeHub) -> None:
        hub.models.clear()
        hub.add(NEW, files)

    return emptied


def no_folder(_: FakeHub) -> None:
    Path("home").write_text("a file", encoding="utf-8")


def gated(hub: FakeHub) -> None:
    hub.models[NEW].gated = True


def nothing(_: FakeHub) -> None: ...


def disabled(status: int = 403) -> Fault:
    return fake_hub.refused(status, X_Error_Message="Access to this resource is disabled.")


#: The beginning of a GGUF file with a key that would take terabytes.
LYING_HEADER = b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**42) + bytes(2**21)
#: What goes wrong; what is asked for beside the model, and how; and what is said.
WRONG: dict[str, tuple[Callable[[FakeHub], None], str, dict[str, object], str]] = {
    "gated": (
        gated,
        "",
        {},
        "is gated; accept its conditions at {hub}/" + NEW + ", then set HF_TOKEN",
    ),
    "not let in": (
        gated,
        "",
        {"token": TOKEN},
        "is gated, and your token's account isn't let in; ask for it at {hub}/" + NEW,
    ),
    "missing": (
        lambda hub: hub.models.clear(),
        "",
        {},
        "is neither here nor at {hub}; check the name, or set HF_TOKEN if it is private",
    ),
    "missing for a token": (
        lambda hub: hub.models.clear(),
        "",
        {"token": TOKEN},
        "is neither here nor at {hub}; check the name, and whether your token may read it",
    ),
    "another's token": (
        nothing,
        "",
        {"token": "hf_old"},
        "{hub} refuses your token (HF_TOKEN, or {home}/token); renew it, or take it away",
    ),
    "no such revision": (
        nothing,
        "@v9",
        {},
        "has no revision v9; see {hub}/" + NEW + "/commits/main",
    ),
    "listed, not there": (
        on_file(fake_hub.refused(404, X_Error_Code="EntryNotFound")),
        "",
        {},
        f"lists {FIRST}, and doesn't have it; try again",
    ),
    "disabled": (
        on_file(disabled()),
        "",
        {},
        "is kept back by {hub}; take its template from elsewhere, as a file",
    ),
    "kept back by law": (
        on_file(fake_hub.refused(451)),
        "",
        {},
        "is kept back by {hub}; take its template from elsewhere, as a file",
    ),
    "too often": (
        on_info(fake_hub.refused(429, RateLimit='"api";r=0;t=30')),
        "",
        {},
        "{hub} had too many requests; try again in 30 s, or set HF_TOKEN",
    ),
    "down": (
        on_info(fake_hub.refused(503, Retry_After="9")),
        "",
        {},
        "{hub} can't answer now (status 503); try again in 9 s",
    ),
    "odd": (
        on_info(fake_hub.refused(418)),
        "",
        {},
        "{hub} refuses to answer (status 418); see {hub}/" + NEW,
    ),
    "huge": (
        on_file(fake_hub.announced_huge),
        "",
        {},
        "{file} has 1048576 MB, and at most 16 MB are read",
    ),
    "endless": (
        on_file(fake_hub.endless),
        "",
        {},
        "{file} has more than 16 MB, which is the most that is read",
    ),
    "broken off": (
        on_file(fake_hub.broken_off),
        "",
        {},
        "{file} broke off after 1 bytes of 1,000 bytes; try again",
    ),
    "hung up": (
        on_info(fake_hub.hung_up),
        "",
        {},
        "127.0.0.1 can't be reached: Remote end closed connection without response; "
        "see to the network, or HF_ENDPOINT, or give the model's own files",
    ),
    "silent": (
        on_info(fake_hub.silent),
        "",
        {"silence": 0.2},
        "127.0.0.1 says nothing any more (HF_HUB_DOWNLOAD_TIMEOUT, 0.2 s); try again",
    ),
    "dripping": (
        on_info(fake_hub.dripping),
        "",
        {"patience": 0.3},
        "it took more than 0.3 s; try again, or download the model's files",
    ),
    "redirected in circles": (
        on_info(fake_hub.redirected("{hub}/api/models/a")),
        "",
        {},
        "/api/models/{model}/revision/main: {hub} redirects again and again; try later",
    ),
    "redirected to another host": (
        on_info(fake_hub.redirected("http://elsewhere.example/")),
        "",
        {},
        "127.0.0.1 redirects to elsewhere.example, which isn't asked; if the hub is there, set "
        "HF_ENDPOINT to it",
    ),
    "redirected to a file": (
        on_file(fake_hub.redirected("file:///etc/passwd")),
        "",
        {},
        "127.0.0.1 redirects to file://, which isn't followed",
    ),
    "another site": (
        on_info(fake_hub.sends(b"<html>")),
        "",
        {},
        "{hub} answers with no JSON; see to HF_ENDPOINT",
    ),
    "no hub": (
        on_info(fake_hub.sends(b'{"sha": "../../x"}')),
        "",
        {},
        "what answers isn't a hub: it names no commit; see to HF_ENDPOINT",
    ),
    "no template": (
        only({"README.md": "# A base model", FIRST: "{}"}),
        "",
        {},
        "holds no chat template (chat_template.jinja, tokenizer_config.json, chat_template.json, "
        "additional_chat_templates/, *.gguf); name the model that is made to chat",
    ),
    "no text": (
        only({"chat_template.jinja": b"\xff\xfe"}),
        "",
        {},
        "@{commit}/chat_template.jinja: is not UTF-8 text: byte 0xff at offset 0",
    ),
    "no JSON": (
        only({FIRST: "<html>"}),
        "",
        {},
        "@{commit}/tokenizer_config.json:1: not JSON: Expecting value",
    ),
    "no GGUF file": (
        only({"x.gguf": b"GGML"}),
        "",
        {},
        "@{commit}/x.gguf: not a GGUF file, or a truncated one: it doesn't begin with GGUF",
    ),
    "a header without end": (
        only({"x.gguf": LYING_HEADER}),
        "",
        {},
        "x.gguf: its header has more than 64 MB",
    ),
    "a licence that forbids": (
        lambda hub: hub.models[NEW].card.update(license="cc-by-nc-nd-4.0"),
        "",
        {"to_keep": True},
        "its licence, cc-by-nc-nd-4.0, forbids to pass on what is made from it; to have a parser "
        "for yourself, run: turnspec analyze {model} --into DIR",
    ),
    "nobody there": (
        nothing,
        "",
        {"endpoint": "http://127.0.0.1:9"},
        "127.0.0.1 can't be reached: Connection refused; "
        "see to the network, or HF_ENDPOINT, or give the model's own files",
    ),
    "no hub's address": (
        nothing,
        "",
        {"endpoint": "file:///etc"},
        "HF_ENDPOINT is file:///etc: only http:// and https:// are asked",
    ),
    "offline": (
        nothing,
        "",
        {"offline": True},
        "isn't in {home}/hub, and the hub isn't asked offline",
    ),
    "no room": (
        no_folder,
        "",
        {},
        "can't be kept: {home}/hub/models--SomeOrg--BrandNew-7B/snapshots/{commit}: a part of this "
        "path is a file, not a folder; or set HF_HOME",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_goes_wrong_is_said_in_a_line(case: str, hub: FakeHub, tmp_path: Path) -> None:
    spoil, revision, changes, line = WRONG[case]
    spoil(hub)
    commit = next(iter(hub.models[NEW].commits)) if NEW in hub.models else ""
    names = {"hub": hub.url, "home": tmp_path / "home", "commit": commit, "model": NEW}
    names["file"] = f"/{NEW}/resolve/{commit}/{FIRST}"
    before = "" if line.startswith("@") else f"{revision}: "
    assert said(NEW + revision, **changes) == f"{NEW}{before}{line.format(**names)}"


def test_a_folder_of_a_model(hub: FakeHub) -> None:
    tokens = {"additional_special_tokens": ["<|x|>"]}
    commit = hub.add(NEW, {**FILES, "special_tokens_map.json": json.dumps(tokens), "x.bin": b"0"})
    (template,) = templates_of()
    assert (template.file, template.text) == ("BrandNew-7B.jinja", TEMPLATE)
    assert template.eos_token == "</s>"
    assert template.tokenizer is not None
    assert template.tokenizer.special_tokens == ("<|x|>",)
    assert template.source == f"{NEW}@{commit}/chat_template.jinja"
    pin = {"origin": "hub", "repository": NEW, "commit": commit, "path": "chat_template.jinja"}
    assert template.pin == pin
    paths = [asked.path for asked in hub.asked]
    assert len(paths) == 4
    assert not any("x.bin" in path for path in paths)


def test_several_templates(hub: FakeHub) -> None:
    rows = [{"name": name, "template": name} for name in ("default", "tool_use")]
    hub.add("An/Old", {FIRST: json.dumps({"chat_template": rows})})
    hub.add("A/New", {**FILES, "additional_chat_templates/rag.jinja": "rag", "a/../b.jinja": "x"})
    assert [(t.name, t.text) for t in templates_of("An/Old")] == [
        ("old", "default"),
        ("old-tool-use", "tool_use"),
    ]
    assert [(t.name, t.text) for t in templates_of("A/New")] == [
        ("new", TEMPLATE),
        ("new-rag", "rag"),
    ]


def test_the_template_of_a_processor(hub: FakeHub) -> None:
    commit = hub.add("An/Eye", {FIRST: "{}", "chat_template.json": '{"chat_template": "see"}'})
    (template,) = templates_of("An/Eye")
    assert template.text == "see"
    assert template.source == f"An/Eye@{commit}/chat_template.json"


def gguf_header(tokens: list[str]) -> bytes:
    """Return the beginning of a GGUF file, with the template behind the vocabulary."""

    def text(given: str) -> bytes:
        return struct.pack("<Q", len(given)) + given.encode()

    vocabulary = struct.pack("<IIQ", 9, 8, len(tokens)) + b"".join(map(text, tokens))
    pairs = text("tokenizer.ggml.tokens") + vocabulary
    pairs += text("tokenizer.chat_template") + struct.pack("<I", 8) + text(TEMPLATE)
    return b"GGUF" + struct.pack("<IQQ", 3, 0, 2) + pairs


@pytest.mark.parametrize("ranges", [True, False])
def test_the_header_of_a_gguf_file(hub: FakeHub, ranges: bool) -> None:
    header = gguf_header(["x" * 2000] * 600)
    assert len(header) > 2**20
    files = {"q/x-00001-of-00002.gguf": header + bytes(2**23), "q/x-00002-of-00002.gguf": b"no"}
    commit = hub.add(NEW, {"README.md": "x", **files}, linked=list(files))
    hub.ranges = ranges
    (template,) = templates_of()
    assert template.text == TEMPLATE
    assert template.source == f"{NEW}@{commit}/q/x-00001-of-00002.gguf"
    parts = [asked.ranged for asked in hub.asked if asked.host == "other"]
    assert parts[0] == f"bytes=0-{2**20 - 1}"
    assert len(parts) == 2
    if ranges:
        assert hub.sent < len(header) + 2**20 + 1000
    templates_of()
    assert len([asked for asked in hub.asked if asked.host == "other"]) == 2


def test_a_token_goes_to_the_endpoint_alone(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", f" {TOKEN}\n")
    hub.add(NEW, FILES, linked=[FIRST])
    hub.faults["/cdn/"] = fake_hub.redirected("{hub}/anything")
    hub.faults["/anything"] = fake_hub.sends(b"{}")
    fetched()
    tokens = [(asked.host, asked.path.rpartition("/")[2], asked.token) for asked in hub.asked]
    assert tokens == [
        ("url", "main", f"Bearer {TOKEN}"),
        ("url", "chat_template.jinja", f"Bearer {TOKEN}"),
        ("url", FIRST, f"Bearer {TOKEN}"),
        ("other", FIRST, None),
        ("url", "anything", None),
    ]


def test_a_token_is_found_where_the_hubs_client_has_it(tmp_path: Path) -> None:
    home = {"HF_HOME": str(tmp_path)}
    assert hub_settings(home).token is None
    (tmp_path / "token").write_text("hf_file\n", encoding="utf-8")
    (tmp_path / "other").write_text("hf_other", encoding="utf-8")
    assert hub_settings(home).token == "hf_file"
    assert hub_settings({**home, "HF_TOKEN_PATH": str(tmp_path / "other")}).token == "hf_other"
    assert hub_settings({**home, "HF_TOKEN": "hf_given"}).token == "hf_given"
    assert hub_settings({**home, "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"}).token is None
    assert hub_settings({**home, "HF_TOKEN": "with\nbreak: in it"}).token == "withbreak: in it"
    plain = hub_settings({"HOME": "/h"})
    assert plain.endpoint == "https://huggingface.co"
    assert hub_settings({"HF_ENDPOINT": "https://m/"}).endpoint == "https://m"
    assert hub_settings(home).cache == tmp_path / "hub"
    assert hub_settings({**home, "HF_HUB_CACHE": "/c"}).cache == Path("/c")
    assert hub_settings({"XDG_CACHE_HOME": "/x"}).cache == Path("/x/huggingface/hub")
    assert [hub_settings({"HF_HUB_OFFLINE": value}).offline for value in "10"] == [True, False]
    assert hub_settings({"HF_HUB_DOWNLOAD_TIMEOUT": "3"}).silence == 3


def test_a_model_that_was_renamed(hub: FakeHub) -> None:
    hub.renamed["Old/Name"] = NEW
    lines: list[str] = []
    model = HubModel("Old/Name")
    found = fetch_model(model, settings(), lines.append)
    assert isinstance(found, Path)
    assert lines == [
        f"asking {hub.url} for the template of Old/Name (--offline forbids it)",
        f"Old/Name is called {NEW} now",
    ]
    place = HubPlace.of(found)
    assert place is not None
    assert place.model.repository == NEW


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "a/b/c",
        "../a",
        "a/..",
        "a/b..c",
        "a--b/c",
        "/a/b",
        "a/b@",
        "a/b@../c",
        "a/b c",
        "a/b@x y",
    ],
)
def test_what_names_no_model(text: str) -> None:
    assert HubModel.read(text) is None


def test_what_names_a_model() -> None:
    assert HubModel.read("a/b@refs/pr/1") == HubModel("a/b", "refs/pr/1")
    assert HubModel.read("Qwen/Qwen2.5-7B_x") == HubModel("Qwen/Qwen2.5-7B_x")


@pytest.mark.parametrize("start", ["https://huggingface.co/", "https:/huggingface.co/", "hf.co/"])
@pytest.mark.parametrize("rest", ["", "/", "?library=x", "/tree", "#readme"])
def test_the_address_of_a_page_names_a_model(start: str, rest: str) -> None:
    assert HubModel.read(f"{start}Lab/Owl-3B{rest}") == HubModel("Lab/Owl-3B")
    assert HubModel.read(f"{start}Lab/Owl-3B/blob/v2/x.jinja") == HubModel("Lab/Owl-3B", "v2")
    assert HubModel.read(f"{start}datasets/owls{rest}") is None


def test_a_known_model_is_answered_without_the_hub(hub: FakeHub) -> None:
    done = run("identify", "Qwen/Qwen3-Coder", "qwen3-coder")
    assert done.exit_code == 0
    assert done.stderr == "to copy its parser: turnspec vendor qwen3-coder --into DIR\n"
    assert hub.asked == []


def test_offline_is_said_and_heeded(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = f"{NEW}: isn't in {Path('home').resolve()}/hub, and the hub isn't asked offline"
    for command in (("identify",), ("analyze",), ("parse",), ("grammar",), ("render",)):
        done = run_whole(*command, NEW, "--offline")
        assert (done.returncode, done.stderr) == (1, f"error: {refused}\n")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert refused in run_whole("vendor", NEW, "--into", "x").stderr
    assert hub.asked == []
    fetched(offline=False)
    asked = len(hub.asked)
    (template,) = templates_of()  # from the cache now, as the hub's own client finds it
    assert template.text == TEMPLATE
    assert len(hub.asked) == asked


def test_what_the_hubs_client_has_fetched_is_taken(hub: FakeHub) -> None:
    commit = next(iter(hub.models[NEW].commits))
    folder = Path("home/hub/models--SomeOrg--BrandNew-7B")
    (folder / "refs").mkdir(parents=True)
    (folder / "refs/main").write_text("0" * 40, encoding="utf-8")
    (folder / f"snapshots/{commit}").mkdir(parents=True)
    (folder / f"snapshots/{commit}/chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    assert fetched() == (folder / "snapshots" / commit).resolve()
    assert [asked.path.rpartition("/")[2] for asked in hub.asked] == ["main", FIRST]
    assert (folder / "refs/main").read_text(encoding="utf-8") == "0" * 40


def test_the_hubs_answer_goes_before_a_guess(
    hub: FakeHub, reference_templates: list[Entry]
) -> None:
    text = next(ROOT / t.location for t in reference_templates if t.name == "glm-4-6").read_bytes()
    hub.add("Some/Qwen3-Coder-Tuned", {"chat_template.jinja": text})
    done = run_whole("vendor", "Some/Qwen3-Coder-Tuned", "--into", "formats")
    assert done.stdout == "wrote formats/glm_4_6.py\nwrote formats/glm-4-6.gbnf\n"
    assert done.stderr == (
        f"notice: asking {hub.url} for the template of Some/Qwen3-Coder-Tuned "
        "(--offline forbids it)\n"
    )
    done = run_whole("vendor", "Other/Qwen3-Coder-30B", "--into", "formats")
    assert "wrote formats/qwen3_coder.py" in done.stdout
    assert done.stderr.endswith(
        f"\nnotice: Other/Qwen3-Coder-30B: is neither here nor at {hub.url}; check the name, "
        "or set HF_TOKEN if it is private\n"
    )
    asked = len(hub.asked)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        guess = turnspec.load("Some/Qwen3-Coder-30B")
    assert len(told) == 1
    assert len(hub.asked) == asked
    fmt = turnspec.load("Some/Qwen3-Coder-Tuned", fetch=True)
    assert fmt.FORMAT != guess.FORMAT
    assert len(hub.asked) == asked + 1


def test_from_an_id_to_a_verified_parser_in_one_command(hub: FakeHub) -> None:
    commit = next(iter(hub.models[NEW].commits))
    start = time.perf_counter()
    done = run_whole("analyze", NEW, "--into", "parsers", "--messages", "2")
    assert time.perf_counter() - start < 60
    assert hub.sent < 3000
    assert (done.returncode, "brandnew-7b: verified" in done.stdout) == (0, True)
    names = {"brandnew-7b.yaml", "brandnew_7b.py", "brandnew-7b.gbnf", "BrandNew-7B.jinja"}
    assert {path.name for path in Path("parsers").iterdir()} == names
    recipe = f"turnspec analyze {NEW}@{commit} --into parsers"
    assert recipe in Path("parsers/brandnew_7b.py").read_text(encoding="utf-8")


def test_a_pin_is_fetched_again_and_taken_anew(
    hub: FakeHub, few_turns: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = next(iter(hub.models[NEW].commits))
    Path("templates").mkdir()
    Path(INDEX_FILE).write_text(EMPTY_INDEX, encoding="utf-8")
    done = run_whole("add", NEW)
    assert done.returncode == 0
    assert done.stdout.startswith(
        f"added templates/fetched/BrandNew-7B.jinja from {NEW}@{first}/chat_template.jinja\n"
    )
    (entry,) = read_index(Path())[0].entries
    pin = (entry.origin, entry.repository, entry.commit, entry.path, entry.eos_token)
    assert pin == ("hub", NEW, first, "chat_template.jinja", "</s>")
    asked = len(hub.asked)
    for model in (NEW, f"{NEW}@{first}"):
        assert run("identify", model).stdout.startswith(f"{model}: brandnew-7b\n")
    assert len(hub.asked) == asked

    second = hub.add(NEW, {**FILES, "chat_template.jinja": CHANGED})
    for folder in ("templates/fetched", "home"):
        shutil.rmtree(folder)
    result = fetch_templates(Path())
    assert (result.problems, [t.sha256 for t in result.templates]) == ([], [entry.sha256])

    done = run_whole("add", "--update", "brandnew-7b")
    assert done.stdout.startswith("pinned templates/fetched/BrandNew-7B.jinja anew\n")
    (entry,) = read_index(Path())[0].entries
    assert (entry.commit, entry.origin) == (second, "hub")
    assert fetch_templates(Path(), offline=True).problems == []
    shutil.rmtree("templates/fetched")
    hub.models.clear()
    shutil.rmtree("home")
    (problem,) = fetch_templates(Path()).problems
    assert isinstance(problem, Problem)
    assert str(problem).endswith("check the name, or set HF_TOKEN if it is private")


def test_two_revisions_are_compared(hub: FakeHub, few_turns: None) -> None:
    first = next(iter(hub.models[NEW].commits))
    hub.add(NEW, {**FILES, "chat_template.jinja": CHANGED}, tags={"v1": first})
    done = run_whole("diff", f"{NEW}@v1", NEW)
    assert done.returncode == 1
    assert done.stdout.startswith("brandnew-7b: breaking\n")
    assert done.stdout.endswith(f"1 breaking between {NEW}@v1 and {NEW}\n")
