"""Adding templates of one's own: each kind of source, the index afterwards, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from gguf import GGUFWriter

from turnspec.sources.add import add_source
from turnspec.sources.fetch import fetch_templates
from turnspec.sources.index import INDEX_FILE
from turnspec.sources.reading import SourceTemplate, read_templates
from turnspec.spec.model import Tokenizer

EMPTY_INDEX = "# ours\norigins: []  # none\n\ntemplates: []\n"
#: The tokens of the folder, and of the file.
IN_FOLDER = Tokenizer("tokenizer_config.json", ("<s>",), ("</s>",))
IN_FILE = Tokenizer("tokenizer.ggml.tokens", (), ("</s>",))
PROPERTY_NAME = "Expecting property name enclosed in double quotes"
TEXT = "{{ bos_token }}{{ messages[0].content }}\r\n｜é"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a repository whose index lists nothing."""
    folder = tmp_path / "repository"
    (folder / "templates").mkdir(parents=True)
    (folder / INDEX_FILE).write_text(EMPTY_INDEX)
    return folder


def jinja_file(folder: Path, name: str = "My Model.jinja", text: str = TEXT) -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def model_folder(folder: Path, config: object = None, **files: str) -> Path:
    model = folder / "Some-Model"
    for name, text in files.items():
        path = model / (
            f"{name}.jinja"
            if name == "chat_template"
            else f"additional_chat_templates/{name}.jinja"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    model.mkdir(exist_ok=True)
    if config is not None:
        (model / "tokenizer_config.json").write_text(json.dumps(config))
    return model


def gguf_file(folder: Path, fill: Callable[[GGUFWriter], None]) -> Path:
    path = folder / "Tiny-Q4_0.gguf"
    writer = GGUFWriter(path, "llama")
    fill(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def with_templates(writer: GGUFWriter) -> None:
    writer.add_token_list(["<unk>", "<s>", "</s>"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(
        [{"name": "default", "template": TEXT}, {"name": "tool_use", "template": "tools"}]
    )


def problems_of(source: Path, name: str | None = None) -> list[str]:
    return [str(problem) for problem in read_templates(source, name)[1]]


def test_a_jinja_file(tmp_path: Path) -> None:
    found, problems = read_templates(jinja_file(tmp_path))
    assert problems == []
    assert found == [SourceTemplate("my-model", "My Model.jinja", TEXT, "My Model.jinja")]


def test_a_model_folder_with_template_files(tmp_path: Path) -> None:
    config = {"chat_template": "old", "bos_token": {"content": "<s>"}, "eos_token": "</s>"}
    model = model_folder(tmp_path, config, chat_template=TEXT, tool_use="tools", rag="rag")
    found, problems = read_templates(model)
    assert problems == []
    shown = "Some-Model/additional_chat_templates"
    assert found == [
        SourceTemplate(
            "some-model",
            "Some-Model.jinja",
            TEXT,
            "Some-Model/chat_template.jinja",
            "<s>",
            "</s>",
            IN_FOLDER,
        ),
        SourceTemplate(
            "some-model-rag",
            "Some-Model-rag.jinja",
            "rag",
            f"{shown}/rag.jinja",
            "<s>",
            "</s>",
            IN_FOLDER,
        ),
        SourceTemplate(
            "some-model-tool-use",
            "Some-Model-tool-use.jinja",
            "tools",
            f"{shown}/tool_use.jinja",
            "<s>",
            "</s>",
            IN_FOLDER,
        ),
    ]


def test_a_model_folder_with_one_template_in_its_configuration(tmp_path: Path) -> None:
    model = model_folder(tmp_path, {"chat_template": TEXT, "bos_token": None})
    found, problems = read_templates(model)
    assert problems == []
    source = "Some-Model/tokenizer_config.json"
    assert found == [SourceTemplate("some-model", "Some-Model.jinja", TEXT, source)]


def test_a_model_folder_whose_template_is_its_processors(tmp_path: Path) -> None:
    """It counts where the tokenizer has none; the file itself stands for its folder."""
    model = model_folder(tmp_path, {"eos_token": "</s>"})
    file = model / "chat_template.json"
    file.write_text(json.dumps({"chat_template": TEXT}))
    for source in (model, file):
        (template,), problems = read_templates(source)
        assert problems == []
        assert (template.name, template.text) == ("some-model", TEXT)
        assert template.source == "Some-Model/chat_template.json"
        assert template.eos_token == "</s>"
    model_folder(tmp_path, {"chat_template": "the tokenizer's"})
    assert [it.text for it in read_templates(model)[0]] == ["the tokenizer's"]


def test_a_processors_template_that_is_none_is_told(tmp_path: Path) -> None:
    model = model_folder(tmp_path)
    file = model / "chat_template.json"
    file.write_text("{")
    assert problems_of(model) == [f"{file}:1: not JSON: {PROPERTY_NAME}"]
    file.write_text('{"chat_template": 7}')
    wrong = "is neither a text nor a list of objects with name and template"
    assert problems_of(model) == [f"{file}: chat_template: {wrong}"]


def test_a_model_folder_with_named_templates_in_its_configuration(tmp_path: Path) -> None:
    rows = [{"name": "default", "template": TEXT}, {"name": "../Tool use", "template": "tools"}]
    found, problems = read_templates(model_folder(tmp_path, {"chat_template": rows}))
    assert problems == []
    assert [(template.file, template.text) for template in found] == [
        ("Some-Model.jinja", TEXT),
        ("Some-Model-tool-use.jinja", "tools"),
    ]


def test_a_gguf_file_with_named_templates(tmp_path: Path) -> None:
    found, problems = read_templates(gguf_file(tmp_path, with_templates))
    assert problems == []
    source = "Tiny-Q4_0.gguf"
    assert found == [
        SourceTemplate("tiny-q4-0", "Tiny-Q4_0.jinja", TEXT, source, "<s>", "</s>", IN_FILE),
        SourceTemplate(
            "tiny-q4-0-tool-use",
            "Tiny-Q4_0-tool-use.jinja",
            "tools",
            source,
            "<s>",
            "</s>",
            IN_FILE,
        ),
    ]


def test_a_gguf_file_without_tokens(tmp_path: Path) -> None:
    path = gguf_file(tmp_path, lambda writer: writer.add_chat_template(TEXT))
    found, problems = read_templates(path)
    assert problems == []
    assert found == [SourceTemplate("tiny-q4-0", "Tiny-Q4_0.jinja", TEXT, "Tiny-Q4_0.gguf")]


def test_another_name_replaces_the_sources_own(tmp_path: Path) -> None:
    found, _ = read_templates(gguf_file(tmp_path, with_templates), "Small")
    assert [template.file for template in found] == ["Small.jinja", "Small-tool-use.jinja"]


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.touch()
    latin = tmp_path / "latin.jinja"
    latin.write_bytes("café".encode("latin-1"))
    empty = jinja_file(tmp_path, "empty.jinja", " \n")
    nameless = jinja_file(tmp_path, "模型.jinja")
    assert problems_of(tmp_path / "absent.jinja") == [
        f"{tmp_path / 'absent.jinja'}: there is no such file or folder"
    ]
    assert problems_of(other) == [
        f"{other}: is neither a .jinja file nor a .gguf file nor a model folder; "
        "if it is a template, call it NAME.jinja"
    ]
    config = tmp_path / "config.json"
    config.touch()
    assert problems_of(config) == [
        f"{config}: is neither a .jinja file nor a .gguf file nor a model folder; "
        "give the model's folder, or its tokenizer_config.json"
    ]
    (told,) = problems_of(tmp_path)  # a folder with templates of other names
    assert told.endswith(f"chat_template.json; or give a file of it, as {empty}")
    assert problems_of(latin) == [f"{latin}: is not UTF-8 text: byte 0xe9 at offset 3"]
    assert problems_of(empty) == [f"{empty}: the template in empty.jinja is empty"]
    assert problems_of(nameless) == [
        f"{nameless}: 模型.jinja: the file's name holds no letter and no digit"
    ]
    assert problems_of(empty, "../up") == [f"{empty}: a template's name holds no folders: ../up"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            "{}",
            ": holds no chat template; looked for chat_template.jinja, "
            "additional_chat_templates/*.jinja, chat_template in tokenizer_config.json, "
            "chat_template.json",
        ),
        (
            "{\n 'a': 1}",
            f"/tokenizer_config.json:2: not JSON: {PROPERTY_NAME}",
        ),
        ("[1]", "/tokenizer_config.json: is JSON, but not an object"),
        (
            '{"chat_template": {"default": "text"}}',
            "/tokenizer_config.json: chat_template: "
            "is neither a text nor a list of objects with name and template",
        ),
        (
            '{"chat_template": [{"name": "a", "template": "x"}, {"name": "a", "template": "y"}]}',
            "/tokenizer_config.json: chat_template: two templates are named a",
        ),
    ],
)
def test_a_wrong_model_folder_is_refused(tmp_path: Path, config: str, message: str) -> None:
    model = model_folder(tmp_path)
    (model / "tokenizer_config.json").write_text(config)
    assert problems_of(model) == [f"{model}{message}"]


def test_a_gguf_file_without_a_template_is_refused(tmp_path: Path) -> None:
    path = gguf_file(tmp_path, lambda writer: writer.add_token_list(["<s>"]))
    assert problems_of(path) == [f"{path}: holds no chat template (tokenizer.chat_template)"]


def test_a_gguf_file_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    whole = gguf_file(tmp_path, with_templates).read_bytes().rstrip(b"\0")
    cut = tmp_path / "cut.gguf"
    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        (problem,) = problems_of(cut)
        assert problem.startswith(f"{cut}: not a GGUF file, or a truncated one: "), length
        assert "\n" not in problem


def test_what_is_added_stands_at_the_end_of_the_index(root: Path, tmp_path: Path) -> None:
    assert add_source(jinja_file(tmp_path), root).problems == []
    before = (root / INDEX_FILE).read_text()
    assert before.startswith(
        "# ours\norigins: []  # none\n\ntemplates:\n  - file: My Model.jinja\n"
    )
    result = add_source(gguf_file(tmp_path, with_templates), root)
    assert result.problems == []
    assert [template.file for template in result.added] == [
        "Tiny-Q4_0.jinja",
        "Tiny-Q4_0-tool-use.jinja",
    ]
    after = (root / INDEX_FILE).read_text()
    assert after.startswith(before)
    listed = "{origin: tokenizer.ggml.tokens, special_tokens: [], end_tokens: [</s>]}"
    assert after.endswith(
        "    bos_token: <s>\n    eos_token: </s>\n"
        f"    tokenizer: {listed}\n    source: Tiny-Q4_0.gguf\n"
    )
    fetched = fetch_templates(root)
    assert fetched.problems == []
    assert [(t.name, t.origin, t.bos_token) for t in fetched.templates] == [
        ("my-model", "local", None),
        ("tiny-q4-0", "local", "<s>"),
        ("tiny-q4-0-tool-use", "local", "<s>"),
    ]
    assert (root / "templates/My Model.jinja").read_bytes() == TEXT.encode()


def test_adding_again_changes_nothing(root: Path, tmp_path: Path) -> None:
    source = jinja_file(tmp_path)
    add_source(source, root)
    index = (root / INDEX_FILE).read_text()
    result = add_source(source, root)
    assert (result.added, result.problems) == ([], [])
    assert [template.name for template in result.unchanged] == ["my-model"]
    assert (root / INDEX_FILE).read_text() == index


def test_a_file_put_into_templates_by_hand_is_listed(root: Path) -> None:
    assert add_source(jinja_file(root / "templates"), root).problems == []
    assert [template.name for template in fetch_templates(root).templates] == ["my-model"]


def test_another_template_of_the_same_name_is_not_overwritten(root: Path, tmp_path: Path) -> None:
    add_source(jinja_file(tmp_path), root)
    result = add_source(jinja_file(tmp_path, "my_model.jinja", "other"), root)
    assert result.added == []
    assert [str(problem) for problem in result.problems] == [
        f"my_model.jinja: {INDEX_FILE}:5 has another template named my-model; "
        "choose another name, or --update to have this one take its place"
    ]
    assert not (root / "templates/my_model.jinja").exists()


def test_an_unlisted_file_is_not_overwritten(root: Path, tmp_path: Path) -> None:
    there = jinja_file(root / "templates", text="other")
    result = add_source(jinja_file(tmp_path), root)
    assert [str(problem) for problem in result.problems] == [
        "My Model.jinja: templates/My Model.jinja is there already, with other content; "
        "choose another name"
    ]
    assert there.read_text() == "other"


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("templates:\n", f"{INDEX_FILE}:1: missing key 'origins'"),
        (
            "templates: []\norigins: []\n",
            f"{INDEX_FILE}: cannot add My Model.jinja at the end: "
            "`templates:` must be the last key, in block style",
        ),
    ],
)
def test_an_index_that_cannot_be_extended_stays(
    root: Path, tmp_path: Path, index: str, message: str
) -> None:
    (root / INDEX_FILE).write_text(index)
    result = add_source(jinja_file(tmp_path), root)
    assert result.added == []
    assert message in [str(problem) for problem in result.problems]
    assert (root / INDEX_FILE).read_text() == index
    assert not (root / "templates/My Model.jinja").exists()
