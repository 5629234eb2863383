"""Known formats: which there are in a place, and how each verb finds them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from gguf import GGUFWriter

from tests.conftest import ROOT
from tests.generated_formats import NAMES
from tests.own_checkouts import files_of, new_checkout, regenerated
from tests.own_templates import FOLDER
from tests.test_cli import run, run_whole
from turnspec.catalog import catalog as catalog_module
from turnspec.catalog.catalog import Catalog, installed_formats
from turnspec.catalog.finding import Found, How, find_format
from turnspec.catalog.identify import Kind, identify_templates
from turnspec.pipeline.project import Project
from turnspec.sources.index import INDEX_FILE, Entry
from turnspec.sources.reading import read_templates
from turnspec.spec.problems import Problem

QWEN = "qwen3-coder"
CODERS = "did you mean qwen3-coder or qwen-qwen3-coder-next?"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with two formats of its own."""
    root = new_checkout(tmp_path_factory.mktemp("own") / "repository")
    regenerated(root)
    return root


@pytest.fixture
def repository(fresh: Path, tmp_path: Path) -> Path:
    return shutil.copytree(fresh, tmp_path / "repository")


@pytest.fixture(scope="module")
def template(reference_templates: list[Entry]) -> Path:
    """The template of a format that everybody knows."""
    return next(ROOT / found.location for found in reference_templates if found.name == QWEN)


def model_file(path: Path, text: str, name: str = "") -> Path:
    writer = GGUFWriter(path, "llama")
    if name:
        writer.add_name(name)
    writer.add_chat_template(text)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def found(asked: object, folder: Path) -> Found:
    result = find_format(str(asked), Catalog.around(folder))
    assert isinstance(result, Found), str(result)
    return result


def refused(asked: object, folder: Path) -> str:
    result = find_format(str(asked), Catalog.around(folder))
    assert isinstance(result, Problem)
    return str(result)


def test_an_editable_install_has_the_formats_of_its_checkout() -> None:
    assert installed_formats() == Project(ROOT)


def test_a_wheel_has_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site-packages" / "turnspec"
    (package / "formats" / "templates").mkdir(parents=True)
    monkeypatch.setattr(catalog_module, "_PACKAGE", package)
    assert installed_formats() is None
    shutil.copy(ROOT / INDEX_FILE, package / "formats" / INDEX_FILE)
    assert installed_formats() == Project(package / "formats")


def test_what_is_known_in_an_empty_folder(tmp_path: Path) -> None:
    catalog = Catalog.around(tmp_path)
    assert (len(catalog.formats), catalog.project, catalog.problems) == (len(NAMES), None, ())
    assert all(known.installed for known in catalog)
    assert catalog.own() == list(catalog)


def test_a_repositorys_own_formats_go_first(repository: Path) -> None:
    catalog = Catalog.around(repository / "specs")
    assert len(catalog.formats) == len(NAMES) + 2
    assert [known.name for known in catalog.own()] == ["bare-json-call", "plain-content"]
    (repository / "specs" / f"{QWEN}.yaml").write_text("mine\n", encoding="utf-8")
    mine = Catalog.around(repository).formats[QWEN]
    assert (mine.installed, mine.project) == (False, Project(repository))


def test_a_broken_index_is_told(repository: Path) -> None:
    (repository / INDEX_FILE).write_text("origins: 3\n", encoding="utf-8")
    result = run("list", "--root", repository)
    assert result.exit_code == 1
    assert f"error: {INDEX_FILE}:1: " in result.stderr
    assert QWEN in result.stdout


def test_by_its_name(tmp_path: Path) -> None:
    for asked in (QWEN, "Qwen3-Coder", "qwen3_coder", "Qwen3-Coder.jinja", "Qwen/Qwen3-Coder"):
        result = found(asked, tmp_path)
        assert (result.format.name, result.how, result.notice) == (QWEN, How.NAME, "")
    assert found("Qwen/Qwen3-0.6B", tmp_path).how is How.NAME


def test_by_an_alias(repository: Path) -> None:
    path = repository / INDEX_FILE
    text = path.read_text(encoding="utf-8")
    pinned = "  - file: plain-content.jinja\n"
    path.write_text(text.replace(pinned, f"{pinned}    aliases: [My Plain One]\n"), "utf-8")
    result = found("my-plain-one", repository)
    assert (result.format.name, result.how) == ("plain-content", How.NAME)
    assert found("plain one", repository).format.name == "plain-content"
    line = run("list", "plain-one", "--root", repository).stdout.splitlines()[1]
    assert line.split("  ")[0] == "plain-content"
    assert line.endswith("here  My Plain One")


def test_by_a_templates_hash(tmp_path: Path) -> None:
    known = Catalog.around(tmp_path).formats[QWEN]
    for asked in (known.sha256, known.sha256.upper(), known.sha256[:12]):
        assert found(asked, tmp_path).format.name == QWEN
    assert refused("0" * 64, tmp_path).startswith("no format is known as '000")


def test_by_a_model_id(tmp_path: Path) -> None:
    """Of a model that no table knows; see test_models."""
    asked = "moonshotai/Kimi-K3-Instruct"
    result = found(asked, tmp_path)
    assert (result.format.name, result.how) == ("kimi-k3", How.LIKE_NAME)
    assert result.notice == (
        f"{asked} is taken for kimi-k3 by its name; "
        "to be sure, give its template to: turnspec identify"
    )


def test_by_a_template(template: Path, tmp_path: Path) -> None:
    text = template.read_text(encoding="utf-8")
    folder = tmp_path / "some-model"
    folder.mkdir()
    (folder / "chat_template.jinja").write_text(text, encoding="utf-8")
    own = tmp_path / "own.jinja"
    own.write_text(text, encoding="utf-8")
    for path in (own, folder, model_file(tmp_path / "q4.gguf", text)):
        result = found(path, tmp_path)
        assert (result.format.name, result.how, result.notice) == (QWEN, How.TEMPLATE, "")


def test_by_a_template_that_writes_the_same(template: Path, tmp_path: Path) -> None:
    path = tmp_path / "edited.jinja"
    path.write_text("{# mine #}" + template.read_text(encoding="utf-8"), encoding="utf-8")
    result = found(path, tmp_path)
    assert (result.format.name, result.how) == (QWEN, How.SAME_FORMAT)
    assert result.notice == f"{path}: another template, which writes the format of qwen3-coder"


def test_a_template_that_writes_the_same_but_for_an_overlay(
    reference_templates: list[Entry], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edited copy has what an overlay says of its model; who analyses it is told of that."""
    monkeypatch.chdir(tmp_path)
    name = "openai-gpt-oss-120b"
    text = next(
        ROOT / found.location for found in reference_templates if found.name == name
    ).read_text("utf-8")
    Path("mine.jinja").write_text("{# mine #}" + text, encoding="utf-8")
    told = f"{name}, to which an overlay adds alternatives.calls, alternatives.marks"
    result = found(Path("mine.jinja"), tmp_path)
    assert (result.format.name, result.how) == (name, How.SAME_FORMAT)
    assert result.notice == f"mine.jinja: another template, which writes the format of {told}"
    analysed = run("analyze", "mine.jinja", "--into", "formats")
    assert f"mine: this is the format of {told}; to have that, too: turnspec vendor {name}\n" in (
        analysed.stderr
    )
    # Content alone says nothing of the calls that an overlay adds.
    plain = FOLDER / "plain-content.jinja"
    assert identify_templates(plain, Catalog.around(tmp_path))[0][0].kind is Kind.NEW
    # Nor is it a change of the template that the overlay is for another text.
    same = run("diff", name, "mine.jinja")
    assert (same.exit_code, "overlay" in same.output) == (0, False)
    told = f"notice: {plain}: was analysed without the overlay of {name}, which adds alternatives."
    assert told in run("diff", name, plain).stderr


@pytest.mark.parametrize("path", ["./nowhere", "../nowhere/qwen3-coder"])
def test_a_path_that_is_nowhere_names_no_format(path: str, tmp_path: Path) -> None:
    told = find_format(path, Catalog.around(tmp_path))
    assert str(told) == f"{Path(path)}: there is no such file or folder"


def test_a_template_that_is_new(tmp_path: Path) -> None:
    path = FOLDER / "channels.jinja"
    assert refused(path, tmp_path) == (
        f"{path}: its format is new; to write a parser for it, run: "
        f"turnspec analyze {path} --into DIR"
    )


def test_a_model_with_templates_of_two_formats(
    reference_templates: list[Entry], tmp_path: Path
) -> None:
    texts = {
        found.name: (ROOT / found.location).read_text(encoding="utf-8")
        for found in reference_templates
    }
    rows = [
        {"name": "default", "template": texts[QWEN]},
        {"name": "tool_use", "template": texts["glm-4-6"]},
    ]
    config = tmp_path / "model" / "tokenizer_config.json"
    config.parent.mkdir()
    config.write_text(json.dumps({"chat_template": rows}), encoding="utf-8")
    said = refused(config.parent, tmp_path)
    assert said.startswith(f"{config.parent}: holds several templates: ")
    assert "is of qwen3-coder" in said
    assert "is of glm-4-6" in said


def test_a_folder_of_a_formats_name_is_that_format(tmp_path: Path) -> None:
    (tmp_path / QWEN).mkdir()
    os.chdir(tmp_path)
    assert found(QWEN, tmp_path).how is How.NAME
    assert refused(f"./{QWEN}", tmp_path).startswith(f"{QWEN}: holds no chat template")


def test_what_is_not_there(tmp_path: Path) -> None:
    assert refused("nothing.gguf", tmp_path) == "nothing.gguf: there is no such file or folder"
    assert refused(tmp_path / "x", tmp_path) == f"{tmp_path / 'x'}: there is no such file or folder"
    for asked in ("", " "):
        assert refused(asked, tmp_path).startswith(f"no format is known as {asked!r}")


SAME_WORDS = [
    (["parse", "FORMAT"], "Hello!"),
    (["grammar", "FORMAT"], None),
    (["vendor", "FORMAT", "--into", "x"], None),
    (["explain", "FORMAT"], None),
    (["explain", "FORMAT", "--trace", "x"], None),
    (["render", "FORMAT"], "[]"),
    (["identify", "FORMAT"], None),
]


@pytest.mark.parametrize(("command", "given"), SAME_WORDS)
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("qwen3-codr", f"no format is known as 'qwen3-codr'; {CODERS}"),
        ("glm", "'glm' may be glm-4-6, glm-4-7-flash, "),
        ("", "no format is known as ''; turnspec list shows all that are"),
    ],
)
def test_every_verb_says_the_same(
    command: list[str],
    given: str | None,
    asked: str,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*[asked if word == "FORMAT" else word for word in command], given=given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {words}")
    assert result.stderr.count("\n") == 1
    assert files_of(tmp_path) == {}


def test_a_guess_is_told_and_kept_apart(tmp_path: Path) -> None:
    result = run("parse", "gptoss", given="<|channel|>final<|message|>Hello!")
    assert json.loads(result.stdout)["content"] == "Hello!"
    assert result.stderr.startswith("notice: gptoss is taken for openai-gpt-oss-120b by its name;")


def listed(*arguments: object) -> list[dict[str, object]]:
    result = run("list", *arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    formats: list[dict[str, object]] = json.loads(result.stdout)["formats"]
    return formats


def test_the_list_and_its_filters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    every = listed()
    assert len(every) == len(NAMES)
    for options, key, value in (
        (["--mode", "tag_with_tagged"], "calls", "TAG_WITH_TAGGED"),
        (["--mode", "NONE"], "calls", "NONE"),
        (["--reasoning", "FORCED_OPEN"], "reasoning", "FORCED_OPEN"),
        (["--encoding", "QUOTED"], "strings", "QUOTED"),
        (["--verified"], "verified", True),
    ):
        some = listed(*options)
        assert some == [entry for entry in every if entry[key] == value]
        assert some
    variants = ["vllm-qwen3-coder", "xinference-qwen3-coder"]
    coders = [entry["name"] for entry in listed("qwen", "coder")]
    assert coders == ["qwen-qwen3-coder-next", QWEN, *variants]
    granite = listed("granite-4-0")
    assert granite[0]["same"] == ["ibm-granite-granite-4-1"]
    lines = run("list", "gemma").stdout.splitlines()
    columns = ["name", "reasoning", "calls", "strings", "verified", "from"]
    assert lines[0].split() == [*columns, "also"]
    assert run("list", QWEN).stdout.splitlines()[0].split() == columns
    row = ["google-gemma-2-2b-it", "NONE", "NONE", "NONE", "yes", "turnspec"]
    assert row in [line.split() for line in lines]


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("Qwen3-32B", "qwen-qwen3-0-6b"),
        ("gpt-oss-20b", "openai-gpt-oss-120b"),
        ("unsloth/gpt-oss-20b-GGUF", "openai-gpt-oss-120b"),
    ],
)
def test_the_list_knows_the_names_that_every_command_knows(word: str, name: str) -> None:
    assert [entry["name"] for entry in listed(word)] == [name]
    assert run("identify", word).stdout.startswith(f"{word}: {name}, by its name")


def test_an_empty_list_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said_of_it = f"no format is known as 'qwen3-codr'; {CODERS}"
    monkeypatch.chdir(tmp_path)
    for words, said in (
        (["xyz"], "no format is known as 'xyz'; turnspec list shows all that are"),
        (["qwen", "codr"], "no format is known as 'codr'; turnspec list shows all that are"),
        (["qwen3-codr"], said_of_it),
        (["qwen", "--encoding", "QUOTED"], "no format fits all of this"),
    ):
        result = run("list", *words)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == f"error: {said}\n"
    told = json.loads(run("list", "qwen3-codr", "--json").stdout)
    assert told == {"formats": [], "problems": [said_of_it]}


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_terminal_gets_whole_names(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnspec.cli.list.OUT", SimpleNamespace(is_terminal=True, width=width))
    title, _, head, *rows = run("list").stdout.splitlines()
    assert title == f"{len(NAMES)} formats"
    assert [row.split()[0] for row in rows] == sorted(NAMES)
    columns = ["name", "reasoning", "calls", "strings", "verified", "from", "also"]
    shown = head.split()
    assert shown == columns[: len(shown)]
    assert len(shown) == {40: 1, 80: 3, 200: 7}[width]
    left_out = "notice: more columns in a wider terminal, or with --json\n"
    assert run("list").stderr == ("" if width == 200 else left_out)


def test_a_result_of_another_spec_verifies_nothing(repository: Path) -> None:
    assert {str(e["name"]) for e in listed("--verified", "plain", "--root", repository)} == {
        "plain-content"
    }
    path = repository / "specs/plain-content.yaml"
    path.write_text(path.read_text("utf-8").replace("<:end:>", "<:over:>"), "utf-8")
    result = run("list", "--verified", "plain", "--root", repository)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "error: no format fits all of this\n"


def test_identify(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = template.read_text(encoding="utf-8")
    model_file(tmp_path / "known.gguf", text)
    (tmp_path / "same.jinja").write_text(text + "{# mine #}", encoding="utf-8")
    result = run("identify", "known.gguf", "same.jinja", "gptoss", QWEN)
    assert result.exit_code == 0
    call = "<tool_call>\\n<function=NAME>\\n<parameter=KEY>\\nVALUE\\n</parameter>\\n</function>"
    coder = ["  reasoning: none", rf"  calls: {call}\n</tool_call>", "  end: <|im_end|>"]
    assert result.stdout.splitlines() == [
        "known.gguf: the template of qwen3-coder",
        *coder,
        "same.jinja: another template, which writes the format of qwen3-coder "
        "(and of vllm-qwen3-coder)",
        *coder,
        "gptoss: openai-gpt-oss-120b, by its name; to be sure, give its template to: "
        "turnspec identify",
        "  reasoning: <|channel|>analysis<|message|>…<|end|>",
        "  calls: to=functions.NAME<|channel|>commentary json<|message|>{…}<|call|>",
        "  end: <|return|> or <|end|><|start|>user<|message|> or <|call|>",
        "qwen3-coder: qwen3-coder",
        *coder,
    ]
    assert result.stderr == (
        "to copy its parser: turnspec vendor qwen3-coder openai-gpt-oss-120b --into DIR\n"
    )
    told = json.loads(run("identify", "known.gguf", "--json").stdout)["sources"]
    assert told == [
        {
            "source": "known.gguf",
            "kind": "known",
            "formats": [QWEN],
            "sha256": Catalog.around(tmp_path).formats[QWEN].sha256,
            "reasoning": "",
            "calls": f"{call}\\n</tool_call>".replace("\\n", "\n"),
            "end": "<|im_end|>",
        }
    ]


def test_identify_tells_where_thinking_is_off_by_default() -> None:
    lines = run("identify", "qwen-qwq-32b", "qwen-qwen3-thinking-2507").stdout.splitlines()
    assert [line for line in lines if line.startswith("  thinking")] == [
        '  thinking: off unless both are told: the template by {"enable_thinking": true}, '
        "the parser by enable_thinking"
    ]


@pytest.mark.parametrize(
    ("text", "said"), [("a: [", ":2: not YAML: "), ("x: 1", ":1: x: unknown key 'x'")]
)
def test_identify_a_file_that_is_no_spec(text: str, said: str, tmp_path: Path) -> None:
    (path := tmp_path / "bad.yaml").write_text(text, "utf-8")
    result = run("identify", path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"error: {path}{said}")
    assert "to copy" not in result.stderr


def test_identify_the_tokenizers_file(tmp_path: Path) -> None:
    """It is read as the folder is, whose template files go before its own text."""
    template = FOLDER / "plain-content.jinja"
    (path := tmp_path / "tokenizer_config.json").write_text('{"chat_template": "none"}', "utf-8")
    (tmp_path / "chat_template.jinja").write_bytes(template.read_bytes())
    found = read_templates(path)
    assert found == read_templates(tmp_path)
    assert [one.text for one in found[0]] == [template.read_text("utf-8")]


def test_identify_what_is_new_or_broken(tmp_path: Path) -> None:
    new = run("identify", FOLDER / "channels.jinja")
    assert new.exit_code == 1
    assert ": new: reasoning TAG_BASED, calls TAG_WITH_JSON\n  reasoning: " in new.stdout
    assert "to write a parser: turnspec analyze " in new.stderr
    broken = tmp_path / "broken.jinja"
    broken.write_text("{% if %}", encoding="utf-8")
    result = run("identify", broken, QWEN)
    assert result.exit_code == 1
    assert result.stdout.startswith("qwen3-coder: qwen3-coder\n  reasoning: none\n")
    assert f"error: {broken}:1: syntax error: " in result.stderr
    assert run("identify", "nothing-at-all").exit_code == 2


QWEN3_TURN = """<think>
Hm.
</think>

Let me see.
<tool_call>
{"name": "f", "arguments": {}}
</tool_call><|im_end|>
"""
CODER_TURN = (
    "Sure.\n<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
)


def test_identify_by_what_a_model_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    one = run("identify", "--turn", "-", given=QWEN3_TURN)
    assert one.exit_code == 0
    lines = one.stdout.splitlines()
    assert "qwen-qwen3-0-6b: reasoning, content, calls" in lines[:10]
    assert any(line.startswith("  the same format: qwen-qwen3-omni-thinking, ") for line in lines)
    (tmp_path / "log.jsonl").write_text(f'"Hi<|im_end|>"\n\n{json.dumps(CODER_TURN)}\n', "utf-8")
    log = run("identify", "--turn", "log.jsonl")
    assert log.exit_code == 0
    assert "qwen3-coder: content in 2, calls in 1\n" in log.stdout
    assert log.stdout.startswith(log.stderr.partition("vendor ")[2].partition(" ")[0])
    told = json.loads(run("identify", "--turn", "log.jsonl", "--json").stdout)
    assert told["outputs"] == 2
    names = [name for reader in told["readers"] for name in reader["names"]]
    assert sorted(names) == sorted(NAMES)
    assert QWEN in [name for reader in told["readers"][:3] for name in reader["names"]]


def test_an_output_that_no_format_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    none = "error: no parser reads it without problems and finds the marks of its format in it\n"
    plain = run("identify", "--turn", "-", given="Hello!")
    assert (plain.exit_code, plain.stdout, plain.stderr) == (1, "", none)
    mixed = f"{json.dumps(QWEN3_TURN)}\n{json.dumps('[TOOL_CALLS]f[ARGS]{')}\n"
    result = run("identify", "--turn", "-", given=mixed + '"</tool_call>[/ARGS]<|im_end|> x"\n')
    assert result.exit_code == 1
    assert "qwen-qwen3-0-6b: reasoning in 1, content in 3, calls in 1, problems in" in result.stdout
    assert result.stderr.endswith(none)
    both = run("identify", "--turn", "-", QWEN, given="Hello!")
    assert (both.exit_code, both.stdout) == (2, "")
    assert both.stderr == "error: give a SOURCE or --turn FILE\n"


def test_templates_with_one_text(repository: Path) -> None:
    index = repository / INDEX_FILE
    source = FOLDER / "plain-content.jinja"
    assert run("add", source, "--name", "another", "--root", repository).exit_code == 0
    assert "another.jinja" in index.read_text(encoding="utf-8")
    (identity,), problems = identify_templates(source, Catalog.around(repository))
    assert problems == []
    assert (identity.kind, set(identity.names)) == (Kind.KNOWN, {"another", "plain-content"})


def test_a_template_that_is_not_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What came with turnspec has no template: the spec alone speaks."""
    root = tmp_path / "formats"
    for folder in ("specs", "generated"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "templates").mkdir()
    shutil.copy(ROOT / INDEX_FILE, root / INDEX_FILE)
    monkeypatch.setattr(catalog_module, "installed_formats", lambda: Project(root))
    monkeypatch.setenv("TURNSPEC_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    explained = run("explain", QWEN)
    assert explained.exit_code == 0
    assert "  header = " in explained.stdout
    assert "\nTwo calls:\n" in explained.stdout
    assert "not found" not in explained.stdout
    assert explained.stderr == (
        "notice: its template isn't here, as turnspec ships none (a download of 77 MB); this is "
        "what the spec alone says; to fetch it: turnspec explain qwen3-coder --fetch\n"
    )
    rendered = run("render", QWEN, given='[{"role": "user", "content": "Hello!"}]')
    assert rendered.exit_code == 1
    assert rendered.stdout == (
        'a prompt ends with: "<|im_start|>assistant\\n"\nan answer ends with: "<|im_end|>"\n'
    )
    assert rendered.stderr.endswith("to fetch it: turnspec render qwen3-coder --fetch\n")


def test_a_template_in_the_cache(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "formats"
    for name in (f"specs/{QWEN}.yaml", INDEX_FILE):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    monkeypatch.setattr(catalog_module, "installed_formats", lambda: Project(root))
    monkeypatch.setenv("TURNSPEC_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "cache/templates/fetched" / template.name
    kept.parent.mkdir(parents=True)
    kept.write_text("another text", encoding="utf-8")
    assert "its template isn't here" in run("explain", QWEN).stderr
    shutil.copy(template, kept)
    assert run("explain", QWEN).stderr == ""
    rendered = run("render", QWEN, given='[{"role": "user", "content": "Hello!"}]')
    assert (rendered.exit_code, rendered.stderr) == (0, "")
    assert rendered.stdout.endswith("<|im_start|>assistant\n")


def test_a_copy_is_compared_with_what_is_known(tmp_path: Path) -> None:
    app = tmp_path / "app"
    assert run("vendor", QWEN, "--into", app).exit_code == 0
    copy = app / "qwen3_coder.py"
    same = run_whole("diff", copy, cwd=tmp_path)
    assert (same.returncode, same.stderr) == (0, "")
    assert same.stdout == f"no format changed between {copy} and qwen3-coder as installed\n"
    text = copy.read_text(encoding="utf-8")
    copy.write_text(text.replace("</tool_call>", "</toolcall>"), encoding="utf-8")
    changed = run_whole("diff", copy, cwd=tmp_path)
    assert changed.returncode == 1
    assert changed.stderr == f"notice: {copy} was edited; it is compared as it is\n"
    assert changed.stdout.startswith("qwen3-coder: breaking\n  old parser, new turns: breaking; ")
    assert "new parser, old turns" not in changed.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("print('mine')\n", "is no parser that turnspec generated"),
        (None, "mine.py: there is no such file or folder"),
        (
            "# Generated by turnspec 0.1.0; x\n# Spec:       specs/none.yaml\n",
            "no format is known as 'none'; turnspec list shows all that are",
        ),
    ],
)
def test_a_copy_that_is_none(text: str | None, words: str, tmp_path: Path) -> None:
    copy = tmp_path / "mine.py"
    if text is not None:
        copy.write_text(text, encoding="utf-8")
    result = run("diff", copy)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr
