"""What a tokenizer's own lists add to a template's format, and what they don't change.

The lists are those of a model's folder and of a GGUF file; anybody may have written them.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from gguf import GGUFWriter

from tests.generated_formats import committed_spec
from tests.own_templates import own_template
from tests.parser_checks import added_up, stream, summary
from turnspec.codegen.loading import load, load_module
from turnspec.codegen.module import generate_module
from turnspec.grammar.bound import bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.pipeline.build import Build, build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.pipeline.state import input_hash
from turnspec.pipeline.template_sources import source_of
from turnspec.rendering.worker import RenderWorker
from turnspec.review.compare import Source, compare_all
from turnspec.sources.add import add_source
from turnspec.sources.fetch import fetch_templates
from turnspec.sources.index import INDEX_FILE, read_index
from turnspec.sources.reading import read_templates
from turnspec.spec.files import load_checked_spec, spec_hash
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.model import Spec, Tokenizer
from turnspec.spec.turn_end import stop_strings
from turnspec.verification.special_tokens import with_tokenizer

#: Formats whose calls are JSON in tags, or Python; and one of our own templates.
JSON, PYTHON = "qwen-qwen3-0-6b", "google-gemma-3-pythonic"
OWN = "python-calls"
ADDED = {
    "0": {"content": "<pad>", "special": True},
    "1": {"content": "<|begin|>", "special": True},
    "2": {"content": "<|done|>", "special": True},
    "3": {"content": "<|next|>", "special": True},
    "4": {"content": "<tool_call>", "special": True},  # which the format has
    "5": {"content": "<plain>", "special": False},
    **{str(10 + number): {"content": f"<free_{number}>", "special": True} for number in range(50)},
}
CONFIG: dict[str, Any] = {
    "bos_token": {"content": "<|begin|>"},
    "eos_token": "<|done|>",
    "additional_special_tokens": ["<|tool|>", {"content": "<|/tool|>"}],
    "added_tokens_decoder": ADDED,
}
EXPECTED = Tokenizer(
    "tokenizer_config.json",
    ("<pad>", "<|begin|>", "<|tool|>", "<|/tool|>"),
    ("<|done|>", "<|next|>"),
)


def model_folder(root: Path, name: str = OWN, config: object = None, **files: object) -> Path:
    """Return the folder of a model with one of our templates, and its tokenizer's files."""
    folder = root / "Some-Model"
    folder.mkdir(parents=True)
    (folder / "chat_template.jinja").write_text(own_template(name).text, encoding="utf-8")
    given = {"tokenizer_config": CONFIG if config is None else config, **files}
    for file, data in given.items():
        (folder / f"{file}.json").write_text(json.dumps(data), encoding="utf-8")
    return folder


def gguf_file(root: Path) -> Path:
    """Return a GGUF file with one of our templates, and a vocabulary."""
    path = root / "Some-Model.gguf"
    writer = GGUFWriter(path, "llama")
    tokens = ["<pad>", "<|begin|>", "<|done|>", "<|next|>", "<tool_call>", "<plain>", "word"]
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, 3, 1, 3, 4, 1])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_eot_token_id(3)
    writer.add_chat_template(own_template(OWN).text)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def built(path: Path, worker: RenderWorker, messages: int | None = None) -> Build:
    """Return what is made of the one template of a file or folder."""
    (template,), problems = read_templates(path, "some-model")
    assert problems == []
    source = source_of(template, template.text)
    paths = OutputPaths.in_project(source.name)
    build = build_template(source, paths, worker=worker, messages=messages)
    assert build.problems == ()
    return build


def spec_in(build: Build) -> Spec:
    spec = load_checked_spec(build.files[OutputPaths.in_project(build.name).spec], "spec")
    assert isinstance(spec, Spec), spec
    return spec


def read(path: Path, name: str = JSON) -> Spec:
    """Return the spec of a known format, with the tokens of a file."""
    (template,), problems = read_templates(path)
    assert problems == []
    return with_tokenizer(committed_spec(name), template.tokenizer)


# What the lists say


def test_the_lists_of_a_folder(tmp_path: Path) -> None:
    generation = {"eos_token_id": [2, 3, 999, "x", None]}
    folder = model_folder(tmp_path, generation_config=generation)
    assert read(folder).tokenizer == EXPECTED


def test_a_map_of_tokens_counts_where_the_configuration_says_nothing(tmp_path: Path) -> None:
    mapped = {"eos_token": "<|other|>", "pad_token": "<|fill|>"}
    folder = model_folder(tmp_path, config={"eos_token": "<|done|>"}, special_tokens_map=mapped)
    found = read_templates(folder)[0][0].tokenizer
    assert found == Tokenizer("tokenizer_config.json", ("<|fill|>",), ("<|done|>",))


def test_the_lists_of_a_gguf_file(tmp_path: Path) -> None:
    found = read(gguf_file(tmp_path)).tokenizer
    kept = ("<pad>", "<|begin|>"), ("<|done|>", "<|next|>")
    assert found == Tokenizer("tokenizer.ggml.tokens", *kept)


@pytest.mark.parametrize("file", ["special_tokens_map.json", "generation_config.json"])
def test_a_file_that_a_template_does_without_may_be_damaged(tmp_path: Path, file: str) -> None:
    folder = model_folder(tmp_path)
    (folder / file).write_text("{", encoding="utf-8")
    templates, problems = read_templates(folder)
    assert problems == []
    assert templates[0].tokenizer


# What doesn't change


def test_all_else_is_the_templates(tmp_path: Path, worker: RenderWorker) -> None:
    folder = model_folder(tmp_path)
    whole = built(folder, worker, messages=10)
    bare = built(folder / "chat_template.jinja", worker, messages=10)
    spec, alone = spec_in(whole), spec_in(bare)
    assert spec.tokenizer
    assert spec != alone
    assert replace(spec, tokenizer=None) == alone
    assert fingerprint(spec) == fingerprint(alone)
    assert spec_hash(spec) == spec_hash(alone)
    assert whole.result == bare.result
    paths = OutputPaths.in_project(whole.name)
    assert whole.files[paths.module] != bare.files[paths.module]
    old, new = {"x": Source(alone)}, {"x": Source(spec)}
    (review,) = compare_all(old, new)
    assert review.severity == "compatible"
    assert review.forward is None
    assert 'token "<pad>"' in [change.name for change in review.changes]


def test_a_token_that_the_template_asks_for_by_name_is_one_of_its_own(
    tmp_path: Path, worker: RenderWorker
) -> None:
    """Its text is none of the format's unless it ends a turn, so that the fingerprint is one."""
    folder = model_folder(tmp_path, "plain-content")  # which begins with bos_token
    spec = spec_in(built(folder, worker))
    assert spec.tokens["bos_token"].text == "<|begin|>"
    assert "eos_token" not in spec.tokens
    assert fingerprint(spec) == fingerprint(spec_in(built(folder / "chat_template.jinja", worker)))


def test_other_lists_make_files_stale(tmp_path: Path) -> None:
    (template,), _ = read_templates(model_folder(tmp_path))
    source = source_of(template, template.text)
    assert input_hash("", source, 0) != input_hash("", replace(source, tokenizer=None), 0)


# What a parser makes of it

TEXTS = {
    "<|begin|>Hi.<|done|>": ("Hi.", ["stray_marker"]),
    "Hi.<pad><|next|>": ("Hi.", ["stray_marker"]),
    "Write '<|done|>' behind it.": ("Write '<|done|>' behind it.", ["stray_marker"]),
    "A <pad> is text here.": ("A <pad> is text here.", ["stray_marker"]),
    "Hi.<|done|>User: x": ("Hi.", ["text_after_end"]),
    "<free_1>": ("<free_1>", []),
    "<plain>": ("<plain>", []),
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", [JSON, PYTHON])
def test_tokens_are_read_at_the_edges(name: str, text: str, tmp_path: Path) -> None:
    generation = {"eos_token_id": [2, 3]}
    spec = read(model_folder(tmp_path, generation_config=generation), name)
    module = load_module(generate_module(spec, spec_path="", spec_hash="", samples=()))
    for form in (module, load(spec)):
        message, events = stream(form, text)
        assert (message.content, [it.kind for it in message.problems]) == TEXTS[text]
        assert added_up(events) == summary(message)
        assert message == form.parse(text)


def test_calls_may_stand_between_tokens(tmp_path: Path) -> None:
    form = load(read(model_folder(tmp_path), PYTHON))
    bare = load(committed_spec(PYTHON))
    turn = "[look(city='Paris', days=3)]"
    assert len(bare.parse(turn).tool_calls) == 1
    message = form.parse(f"<|tool|>{turn}<|/tool|><|done|>")
    assert message.tool_calls == form.parse(turn).tool_calls
    assert message.content == ""


def test_pieces_decide_where_they_are_known(tmp_path: Path) -> None:
    form = load(read(model_folder(tmp_path)))
    known = {"special_tokens": ["<pad>", "<|done|>"]}
    told = form.parse(
        [("Hi", False), ("<pad>", True), (" you", False), ("<|done|>", True)], **known
    )
    assert told.content == "Hi you"
    told = form.parse([("Hi<|done|>", False), ("<pad>", False)], **known)
    assert told.content == "Hi<|done|><pad>"


def test_an_end_is_a_stop_string(tmp_path: Path) -> None:
    spec = read(model_folder(tmp_path))
    assert stop_strings(spec) == (*spec.turn.stop, "<|done|>")
    bound = bind_grammar(spec, GrammarRequest())
    assert not isinstance(bound, list)
    assert bound.stop == stop_strings(spec)


# Lists of strangers

LISTS = {
    "no list": {"added_tokens_decoder": "<x>", "additional_special_tokens": 7},
    "no objects": {"added_tokens_decoder": {"1": "<x>", "2": None, "3": {"special": True}}},
    "no texts": {"eos_token": 7, "pad_token": ["<x>"], "additional_special_tokens": [None, [[]]]},
    "too long": {"eos_token": f"<{'x' * 99}>"},
    "what nobody sees": {
        "additional_special_tokens": ["<a\x00b>", "<a\u202eb>", "<a\nb>", "<a b>"]
    },
    "what no marker is": {
        "additional_special_tokens": ["", " ", "x", "the", "<>", "{x}", "\ud800<x>"]
    },
}


@pytest.mark.parametrize("case", LISTS)
def test_what_can_be_no_marker_is_passed_over(case: str, tmp_path: Path) -> None:
    templates, problems = read_templates(model_folder(tmp_path, config=LISTS[case]))
    assert problems == []
    assert templates[0].tokenizer is None


def test_there_are_only_so_many(tmp_path: Path) -> None:
    letters = [f"<{chr(97 + a)}{chr(97 + b)}>" for a in range(26) for b in range(26)]
    config = {"additional_special_tokens": letters, "added_tokens_decoder": {}}
    added = {
        str(at): {"content": f"<|{text[1:]}", "special": True} for at, text in enumerate(letters)
    }
    generation = {"eos_token_id": list(range(600))}
    folder = model_folder(
        tmp_path, config={**config, "added_tokens_decoder": added}, generation_config=generation
    )
    spec = read(folder)
    assert spec.tokenizer
    assert (len(spec.tokenizer.special_tokens), len(spec.tokenizer.end_tokens)) == (64, 16)


def test_no_token_stands_in_the_way_of_the_templates_markers() -> None:
    spec = committed_spec(JSON)
    hostile = ("<tool_call>", "</tool_call>x", "<thin", "<|im_start|>assistant", "<|im_end|>")
    assert with_tokenizer(spec, Tokenizer("x", hostile, hostile)) == spec
    python = committed_spec(PYTHON)
    assert with_tokenizer(python, Tokenizer("x", ("[look(x=1)]",))) == python


# The index


def test_an_added_template_keeps_its_tokens(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / INDEX_FILE).write_text("origins: []\ntemplates: []\n", encoding="utf-8")
    folder = model_folder(tmp_path / "models")
    assert add_source(folder, tmp_path).problems == []
    (entry,) = read_index(tmp_path)[0].entries
    assert entry.tokenizer == read_templates(folder)[0][0].tokenizer
    (file,) = fetch_templates(tmp_path, offline=True).templates
    assert file.tokenizer == entry.tokenizer
    # Another list takes the place of the first with the text that it belongs to.
    (folder / "tokenizer_config.json").write_text('{"eos_token": "<|stop|>"}', encoding="utf-8")
    with (folder / "chat_template.jinja").open("a", encoding="utf-8") as template:
        template.write("\n")
    assert add_source(folder, tmp_path, update=True).problems == []
    (entry,) = read_index(tmp_path)[0].entries
    assert entry.tokenizer == Tokenizer("tokenizer_config.json", (), ("<|stop|>",))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"end_tokens": "x"}, "must be a list, not a string"),
        ({"end_tokens": ["a b"]}, "'a b' doesn't match"),
        ({"stop": []}, "unknown key 'stop'; allowed: origin, special_tokens, end_tokens"),
    ],
)
def test_an_index_is_checked(change: dict[str, object], told: str, tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    row: dict[str, object] = {"file": "x.jinja", "origin": "local", "sha256": "0" * 64}
    row |= {"source": "x", "tokenizer": {"origin": "x", **change}}
    text = yaml.safe_dump({"origins": [], "templates": [row]})
    (tmp_path / INDEX_FILE).write_text(text, encoding="utf-8")
    _, problems = read_index(tmp_path)
    assert told in problems[0].message
