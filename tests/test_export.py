"""`turnspec export`: what other programs read, and what is refused."""

from __future__ import annotations

import ast
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.generated_formats import NAMES, ROOT, committed_format
from tests.git_checkouts import write_format
from tests.integrations.page import exports_page
from tests.specs_for_tests import json_native_spec, plain_spec, tagged_spec
from tests.test_cli import run
from tests.test_vendor import checkout, root  # noqa: F401  (fixtures)
from turnspec.export.exporting import Exported, ExportOptions, Refusal
from turnspec.export.response_template import NAMES_IN_IDS, response_template
from turnspec.export.targets import export_format
from turnspec.export.xgrammar import structural_tag
from turnspec.grammar.request import GrammarRequest
from turnspec.pipeline.project import RESULTS, OutputPaths
from turnspec.spec.calls import Literal, Slot
from turnspec.spec.integration_results import read_integrations
from turnspec.spec.problems import Problem
from turnspec.spec.words import SlotKind

NAME = "qwen-qwen3-0-6b"


def test_a_template_is_printed() -> None:
    result = run("export", NAME, "--to", "response-template", "--root", ROOT)
    assert (result.exit_code, result.stderr) == (0, "")
    template = json.loads(result.stdout)
    assert template["start_anchor"] == "<|im_start|>assistant\n"
    assert [*template["fields"]] == ["thinking", "tool_calls", "content"]


def test_an_edited_plugin_is_not_written_over(tmp_path: Path) -> None:
    command = ("export", NAME, "--to", "vllm", "--into", tmp_path, "--root", ROOT)
    assert run(*command).exit_code == run(*command).exit_code == 0
    plugin = tmp_path / "qwen_qwen3_0_6b_vllm.py"
    generated = plugin.read_text("utf-8")
    plugin.write_text(generated + "# mine\n", "utf-8")
    result = run(*command)
    told = "was edited, or isn't turnspec's; move it away or give --force"
    assert (result.exit_code, result.stderr) == (1, f"error: {plugin}: {told}\n")
    assert plugin.read_text("utf-8").endswith("# mine\n")
    assert run(*command, "--force").exit_code == 0
    assert plugin.read_text("utf-8") == generated


def test_the_key_for_reasoning_can_be_chosen(tmp_path: Path) -> None:
    field = ("--reasoning-field", "reasoning_content")
    command = ("export", NAME, "--to", "response-template", "--root", ROOT)
    result = run(*command, *field, "--into", tmp_path / "new")
    path = tmp_path / "new" / "response_template.json"
    assert (result.exit_code, result.stdout) == (0, f"wrote {path}\n")
    assert "reasoning_content" in json.loads(path.read_text())["fields"]


@pytest.mark.parametrize(
    ("target", "file"),
    [("vLLM", "vllm.py"), ("SGLang", ""), ("llama-cpp-python", "llama_cpp_python.py")],
)
def test_how_a_server_is_started_is_told(target: str, file: str, tmp_path: Path) -> None:
    """As the plugin itself says, with the paths that the files have."""
    folder = tmp_path / "my plugins"
    result = run("export", NAME, "--to", target, "--into", folder, "--root", ROOT)
    assert result.exit_code == 0
    line = result.stderr.removeprefix("to use it: ").removesuffix("\n")
    parts = shlex.split(line)
    plugin = folder / f"qwen_qwen3_0_6b_{file or 'sglang.py'}"
    about = ast.get_docstring(ast.parse(plugin.read_text(encoding="utf-8"))) or ""
    place = str(plugin) if file else f"PYTHONPATH={folder}"
    told = plugin.name if file else "PYTHONPATH=FOLDER"
    assert place in parts
    said = [told if part == place else part.replace("MODEL.gguf", "model.gguf") for part in parts]
    assert " ".join(said) in " ".join(about.replace("\\\n", "").split())


@pytest.mark.parametrize(
    ("target", "line"),
    [
        (
            "renderers",
            "name = custom, import_path = {folder}/qwen_qwen3_0_6b_renderers.py:Renderer",
        ),
        ("response-template", "--tokenizer-config MODEL/tokenizer_config.json && transformers"),
        # Servers take no body that isn't said to be JSON.
        (
            "xgrammar",
            '--json "$(jq -n --slurpfile tag {folder}/structural_tag.json \'{{model: "MOD',
        ),
        ("pair", "--tokenizer-config MODEL/tokenizer_config.json && vllm serve MODEL "),
        ("llguidance", "LLMatcher(tokenizer, open('{folder}/grammar.lark').read())"),
    ],
)
def test_what_to_do_with_other_exports_is_told(target: str, line: str, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text('[{"type": "function", "function": {"name": "f"}}]', encoding="utf-8")
    options = ["--tools", tools] if target in ("xgrammar", "llguidance") else []
    command = ("export", NAME, "--to", target, *options, "--root", ROOT)
    result = run(*command, "--into", tmp_path)
    assert result.exit_code == 0
    assert line.format(folder=tmp_path) in result.stderr
    assert "to use it" not in run(*command, "--json").stderr


def test_the_command_that_goes_on_names_the_same_spec(tmp_path: Path) -> None:
    write_format(tmp_path, tagged_spec(), OutputPaths.in_folder("tagged"))
    spec = tmp_path / "tagged.yaml"
    result = run("export", spec, "--to", "response-template", "--into", tmp_path)
    assert f"to use it: turnspec export {spec} --to response-template " in result.stderr


def test_a_model_that_holds_its_template_only_has_to_be_started(tmp_path: Path) -> None:
    template = ROOT / "tests" / "templates" / "plain-content.jinja"
    assert run("analyze", template, "--into", tmp_path, "--messages", "3").exit_code == 0
    config = tmp_path / "tokenizer_config.json"
    config.write_text(json.dumps({"chat_template": template.read_text(encoding="utf-8")}))
    command = ("export", tmp_path / "plain-content.yaml", "--to", "response-template")
    result = run(*command, "--tokenizer-config", config)
    assert result.stderr == f"to use it: transformers serve {tmp_path}\n"
    assert "response_template" in json.loads(config.read_text(encoding="utf-8"))


def test_what_is_printed_can_be_json() -> None:
    command = ("export", NAME, "--to", "response-template", "--root", ROOT)
    result = run(*command, "--json")
    data = json.loads(result.stdout)
    assert [*data] == ["files", "losses"]
    assert [*data["files"]] == ["response_template.json"]


def test_an_unknown_target_is_refused() -> None:
    for target, said in (
        ("nothing", "'nothing' is not one of 'llama-cpp-python', 'llguidance', 'pair', "),
        ("llama.cpp", "for llama-server: turnspec grammar, or examples/proxy"),
        ("llama-server", "for llama-server: turnspec grammar, or examples/proxy"),
    ):
        result = run("export", NAME, "--to", target, "--root", ROOT)
        assert result.exit_code == 2
        assert said in result.stderr


def test_a_format_that_is_not_verified_is_refused(root: Path, tmp_path: Path) -> None:  # noqa: F811
    (root / RESULTS).unlink()
    command = ("export", "json-native", "--to", "response-template", "--root", root)
    result = run(*command, "--into", tmp_path / "new")
    reason = "not verified: there is no result for the spec as it is"
    wanted = f"error: json-native is {reason}; to export it all the same, use --force\n"
    assert (result.exit_code, result.stderr) == (1, wanted)
    assert not (tmp_path / "new").exists()
    assert run(*command, "--force").stderr == f"notice: json-native is {reason}\n"


#: Calls of Python in a list, behind no marker at all.
PLAIN_BRACKETS = (
    "google-gemma-3-pythonic",
    "meta-llama-llama-3-2-pythonic",
    "meta-llama-llama-4-pythonic",
    "team-ace-toolace-8b",
)


@pytest.fixture
def own_template() -> tuple[str, Path]:
    """A format of ours, whose template is in the repository."""
    return "unseen-arguments-into", ROOT / "tests" / "templates" / "unseen-arguments-into.jinja"


def test_a_tokenizer_file_of_another_model_is_left_alone(
    tmp_path: Path, own_template: tuple[str, Path]
) -> None:
    path = tmp_path / "tokenizer_config.json"
    text = json.dumps({"chat_template": own_template[1].read_text(encoding="utf-8")})
    path.write_text(text, encoding="utf-8")
    command = ("export", NAME, "--to", "response-template", "--root", ROOT)
    result = run(*command, "--tokenizer-config", path)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: {path}: is of another model: its template (sha256 ")
    assert result.stderr.endswith("and writes other turns\n")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("{}", "holds no chat template, so nobody can tell whose it is"),
        ("[", "not JSON: Expecting value"),
        (None, "there is no such file or folder"),
    ],
)
def test_a_tokenizer_file_has_to_be_one(text: str | None, wanted: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer_config.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    command = ("export", NAME, "--to", "response-template", "--root", ROOT)
    result = run(*command, "--tokenizer-config", path)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: {path}")
    assert result.stderr.endswith(f": {wanted}\n")


#: One of each kind: objects in marks, an array of them, a head with JSON, tags, Python's calls.
KINDS = (
    "qwen-qwen3-0-6b",
    "cohere2moe",
    "openai-gpt-oss-120b",
    "qwen3-coder",
    "lfm2-8b-a1b",
)


@pytest.mark.parametrize("name", KINDS)
def test_response_templates(name: str, snapshot: SnapshotAssertion) -> None:
    found = response_template(committed_format(name).spec, ExportOptions())
    assert not isinstance(found, Refusal)
    template, losses = found
    assert json.dumps(template, indent=2, ensure_ascii=False) == snapshot
    assert [*map(str, losses)] == snapshot


def test_a_name_that_stands_in_an_id_is_told_to_come_with_it() -> None:
    found = response_template(committed_format("moonshotai-kimi-k2-instruct").spec, ExportOptions())
    assert not isinstance(found, Refusal)
    assert NAMES_IN_IDS in found[1]


def test_calls_without_marks_are_told_by_what_joins_them() -> None:
    spec = committed_format("microsoft-phi-4-mini-instruct").spec
    assert spec.tools
    bare = replace(spec.tools, section_start="", section_end="", separator=",")
    found = response_template(replace(spec, tools=bare), ExportOptions())
    assert not isinstance(found, Refusal)
    field = found[0]["fields"]["tool_calls"]
    first, second = '{"name": "f", "arguments": {}}', '{"name": "g", "arguments": {"a": "b},{"}}'
    text = f"{first},{second}<|end|>"
    opened = [match.end() for match in re.finditer(field["open_pattern"], text)]
    assert opened == [0, len(first) + 1]
    closed = [match.start() for match in re.finditer(field["close_pattern"], text)]
    assert closed == [len(first), len(first) + 1 + len(second)]
    assert [loss.what for loss in found[1]] == ["calls without marks", "calls after the first"]


def test_values_in_quotes_of_their_own_may_not_hold_the_characters_of_transformers() -> None:
    loss = "characters U+0001 and U+0002"
    for name, wanted in (("google-functiongemma-270m-it", True), (NAME, False)):
        found = response_template(committed_format(name).spec, ExportOptions())
        assert not isinstance(found, Refusal)
        assert (loss in {each.what for each in found[1]}) is wanted


def test_what_a_response_template_cannot_say_is_refused() -> None:
    spec, native, tagged = plain_spec(), json_native_spec(), tagged_spec()
    assert native.tools is not None
    assert tagged.tools is not None
    no_header = replace(spec, turn=replace(spec.turn, header=" "))
    odd_key = replace(native.tools, fields=replace(native.tools.fields, name=("the name",)))
    bare = (Slot(SlotKind.NAME), Literal(":"), Slot(SlotKind.ARGUMENTS))
    no_marks = replace(tagged.tools, call=bare, section_start="")
    refused = (
        (no_header, "the turn's beginning: the prompt shows no header of the assistant"),
        (replace(native, tools=odd_key), "tool calls: a placeholder can't hold the key 'the name'"),
        (
            replace(tagged, tools=no_marks),
            "tool calls: neither they nor their section begin with a mark",
        ),
    )
    for given, wanted in refused:
        assert str(response_template(given, ExportOptions())) == wanted


@pytest.mark.long
def test_all_known_formats_can_be_exported_but_for_calls_without_any_marks() -> None:
    found = {
        name: response_template(committed_format(name).spec, ExportOptions()) for name in NAMES
    }
    refused = {name: each for name, each in found.items() if isinstance(each, Refusal)}
    why = Refusal("tool calls", "neither they nor their section begin with a mark")
    bare = Refusal("tool calls", "nothing marks them, and nothing stands between two")
    alone = dict.fromkeys(("axolotl-llama-4", "meta-llama-llama-4-json"), bare)
    assert refused == {**dict.fromkeys(PLAIN_BRACKETS, why), **alone}


def test_a_template_goes_into_the_tokenizer_file(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer_config.json"
    text = '{\n  "eos_token": "é",\n  "chat_template": "…"\n}\n'
    options = ExportOptions(tokenizer_config=json.loads(text))
    exported = export_format(json_native_spec(), "response-template", options)
    assert isinstance(exported, Exported)
    written = exported.files[path.name]
    assert written.startswith(text.rstrip("}\n") + ',\n  "response_template": {\n    "version": 1,')
    assert [*json.loads(written)] == ["eos_token", "chat_template", "response_template"]


def test_the_page_says_what_was_recorded() -> None:
    records = read_integrations(ROOT / "specs" / "integrations.json")
    assert not isinstance(records, Problem)
    page = (ROOT / "docs" / "EXPORTS.md").read_text(encoding="utf-8")
    assert page == exports_page(dict(sorted(records.items())))


def test_a_structural_tag_leaves_text_free_up_to_a_trigger() -> None:
    tools = [{"name": "add", "parameters": {"type": "object", "properties": {}}}]
    request = GrammarRequest(tools=tools)
    tag = structural_tag(committed_format(NAME).spec, request)
    assert not isinstance(tag, Refusal)
    text, rest = tag["format"]["elements"]
    assert text == {"type": "any_text", "excludes": ["<think>", "<tool_call>"]}
    reasoning, calls = rest["content"]["elements"]
    assert [each["type"] for each in reasoning["elements"]] == ["const_string", "sequence"]
    inside = reasoning["elements"][1]["elements"][0]
    assert inside == {"type": "any_text", "excludes": ["</think>"]}
    assert calls["type"] == "grammar"
    required = structural_tag(
        committed_format(NAME).spec, GrammarRequest(tools=tools, tool_choice="required")
    )
    assert not isinstance(required, Refusal)
    assert required["format"]["type"] == "grammar"


def test_a_structural_tag_lets_prose_quote_a_call_of_bare_json() -> None:
    request = GrammarRequest(tools=[{"name": "add"}])
    tag = structural_tag(committed_format("meta-llama-llama-3-1-8b-instruct").spec, request)
    assert not isinstance(tag, Refusal)
    called, otherwise = tag["format"]["elements"]
    before, grammar = called["elements"]
    assert (before["type"], grammar["type"], otherwise["type"]) == ("regex", "grammar", "regex")
    for text in ("", " \n", "<|python_tag|>"):
        assert re.fullmatch(before["pattern"], text)
        assert not re.fullmatch(otherwise["pattern"], f'{text}{{"name": "anything')
    for text in ('One writes {"name": "add"', "", "{", '{"name": 5}', "<|python_tag|>x", "[1]"):
        assert re.fullmatch(otherwise["pattern"], text)


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ((), "tools: a structural tag is bound to tools, so give --tools FILE"),
        (("--tool-choice", "f"), "the request: there is no tool 'f' to choose; there are: add"),
    ],
)
def test_a_structural_tag_that_cannot_be(
    arguments: tuple[str, ...], wanted: str, tmp_path: Path
) -> None:
    path = tmp_path / "tools.json"
    path.write_text('[{"name": "add"}]', encoding="utf-8")
    tools = ("--tools", path) if arguments else ()
    command = ("export", NAME, "--to", "xgrammar", "--root", ROOT)
    result = run(*command, *tools, *arguments)
    told = f"error: {NAME} can't be exported to xgrammar: {wanted}\n"
    assert (result.exit_code, result.stderr) == (1, told)
