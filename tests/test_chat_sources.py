"""Which template is used: an explicit one, the model's own, the one for tools, or a stand-in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gguf import GGUFWriter

from turnspec.analysis.analyze import analyze_template
from turnspec.analysis.source import TemplateSource
from turnspec.chat import NAMED_FORMATS, ChatError, ChatTemplate
from turnspec.chat.sources import named_format
from turnspec.rendering.conversation import Chat
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.files import dump_spec
from turnspec.verification.rungs import predict
from turnspec.verification.turns import Renderer

USER = [{"role": "user", "content": "Hi"}]
TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {}}}]
PLAIN = (
    "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}"
    "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
WITH_TOOLS = "<<tools>>" + PLAIN
BROKEN = "{% if x %}never closed"


@pytest.fixture(scope="module")
def worker() -> Iterator[RenderWorker]:
    with RenderWorker() as worker:
        yield worker


def gguf(path: Path, **values: Any) -> Path:
    writer = GGUFWriter(path, "llama")
    writer.add_token_list(["<s>", "</s>", "word"])
    if "bos" in values:
        writer.add_bos_token_id(values["bos"])
    if "eos" in values:
        writer.add_eos_token_id(values["eos"])
    if "adds_bos" in values:
        writer.add_add_bos_token(values["adds_bos"])
    if "adds_eos" in values:
        writer.add_add_eos_token(values["adds_eos"])
    if "default" in values:
        writer.add_chat_template(values["default"])
    if "tool_use" in values:
        writer.add_string("tokenizer.chat_template.tool_use", values["tool_use"])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def rendered(chat: ChatTemplate, tools: list[Any] | None = None) -> str:
    return chat.render(USER, tools=tools or []).text


def test_a_models_template_is_used_and_its_tokens(tmp_path: Path, worker: RenderWorker) -> None:
    path = gguf(tmp_path / "m.gguf", default=PLAIN, bos=0, eos=1)
    chat = ChatTemplate.load(path, worker=worker)
    assert chat.notes == ()
    assert rendered(chat) == "<s><user>Hi</s><assistant>"


def test_the_template_for_tools_is_used_with_tools(tmp_path: Path, worker: RenderWorker) -> None:
    path = gguf(tmp_path / "m.gguf", default=PLAIN, tool_use=WITH_TOOLS, bos=0, eos=1)
    chat = ChatTemplate.load(path, worker=worker)
    assert rendered(chat) == "<s><user>Hi</s><assistant>"
    assert rendered(chat, TOOLS).startswith("<<tools>>")


def test_a_variant_is_used_with_and_without_tools(tmp_path: Path, worker: RenderWorker) -> None:
    path = gguf(tmp_path / "m.gguf", default=PLAIN, tool_use=WITH_TOOLS, bos=0, eos=1)
    chat = ChatTemplate.load(path, variant="tool_use", worker=worker)
    assert rendered(chat).startswith("<<tools>>")
    with pytest.raises(ChatError, match=r"m\.gguf: has no template named rag; it has default, too"):
        ChatTemplate.load(path, variant="rag")


def test_the_template_for_tools_stands_in_for_a_missing_default(
    tmp_path: Path, worker: RenderWorker
) -> None:
    path = gguf(tmp_path / "m.gguf", tool_use=WITH_TOOLS, bos=0, eos=1)
    chat = ChatTemplate.load(path, worker=worker)
    assert rendered(chat).startswith("<<tools>>")
    assert chat.notes == ()


def test_an_explicit_template_is_used_whatever_the_model_has(
    tmp_path: Path, worker: RenderWorker
) -> None:
    path = gguf(tmp_path / "m.gguf", default=PLAIN, tool_use=WITH_TOOLS, bos=0, eos=1)
    chat = ChatTemplate.load(path, template="[{{ messages[0].content }}]", worker=worker)
    assert chat.prepared(with_tools=True).text == "[{{ messages[0].content }}]"
    chat = ChatTemplate.load(path, template="chatml", worker=worker)
    assert rendered(chat) == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize("default", [{}, {"default": ""}, {"default": " \n"}])
def test_chatml_stands_in_for_no_template(
    default: dict[str, str], tmp_path: Path, worker: RenderWorker
) -> None:
    chat = ChatTemplate.load(gguf(tmp_path / "m.gguf", **default), worker=worker)
    assert chat.notes[0].endswith("chatml stands in")
    assert chat.notes[0].startswith("the model holds no chat template")
    assert rendered(chat) == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"


def test_chatml_stands_in_for_a_template_that_doesnt_parse(
    tmp_path: Path, worker: RenderWorker
) -> None:
    path = gguf(tmp_path / "m.gguf", default=PLAIN, tool_use=BROKEN, bos=0, eos=1)
    chat = ChatTemplate.load(path, worker=worker)
    (note,) = chat.notes
    assert note.startswith("the template can't be parsed (line 1: Unexpected end of template.")
    assert note.endswith("chatml stands in")
    assert rendered(chat) == "<s><user>Hi</s><assistant>"
    assert rendered(chat, TOOLS).startswith("<|im_start|>system")


def test_a_model_may_name_a_format(tmp_path: Path, worker: RenderWorker) -> None:
    chat = ChatTemplate.load(gguf(tmp_path / "m.gguf", default="llama2"), worker=worker)
    assert (rendered(chat), chat.notes) == ("<s>[INST] Hi [/INST]", ())


@pytest.mark.parametrize(
    ("values", "notes"),
    [
        ({"bos": 0}, ("the template uses eos_token, and the vocabulary has none",)),
        ({"eos": 1}, ("the template uses bos_token, and the vocabulary has none",)),
        (
            {},
            (
                "the template uses bos_token, and the vocabulary has none",
                "the template uses eos_token, and the vocabulary has none",
            ),
        ),
    ],
)
def test_a_vocabulary_without_a_token_that_the_template_uses(
    values: dict[str, int], notes: tuple[str, ...], tmp_path: Path, worker: RenderWorker
) -> None:
    chat = ChatTemplate.load(gguf(tmp_path / "m.gguf", default=PLAIN, **values), worker=worker)
    assert chat.notes == notes
    bos, eos = "<s>" if "bos" in values else "", "</s>" if "eos" in values else ""
    assert rendered(chat) == f"{bos}<user>Hi{eos}<assistant>"


def test_a_file_names_no_tokens_and_is_told(tmp_path: Path, worker: RenderWorker) -> None:
    path = tmp_path / "plain.jinja"
    path.write_text(PLAIN, encoding="utf-8")
    chat = ChatTemplate.load(path, worker=worker)
    assert chat.notes == (
        "the template uses bos_token, and nobody names it; <s> stands in",
        "the template uses eos_token, and nobody names it; </s> stands in",
    )
    chat = ChatTemplate.load(path, bos_token="<B>", eos_token="", worker=worker)
    assert (chat.notes, rendered(chat)) == ((), "<B><user>Hi<assistant>")


@pytest.mark.parametrize(
    ("adds", "prefix", "text"),
    [
        ({}, "", "<s><user>Hi</s>"),
        ({}, "{{ bos_token }}", "<s><user>Hi</s>"),
        ({"adds_bos": True}, "", "<user>Hi</s>"),
        ({"adds_bos": True}, "{{ bos_token }}", "<user>Hi</s>"),
        ({"adds_eos": True}, "", "<s><user>Hi"),
        ({"adds_bos": False, "adds_eos": False}, "", "<s><user>Hi</s>"),
    ],
)
def test_no_token_comes_twice(
    adds: dict[str, bool], prefix: str, text: str, tmp_path: Path, worker: RenderWorker
) -> None:
    path = gguf(tmp_path / "m.gguf", default=prefix + PLAIN, bos=0, eos=1, **adds)
    chat = ChatTemplate.load(path, worker=worker)
    assert chat.render(USER, add_generation_prompt=False).text == text


def test_a_model_folder(tmp_path: Path, worker: RenderWorker) -> None:
    config = {
        "chat_template": [
            {"name": "default", "template": PLAIN},
            {"name": "tool_use", "template": WITH_TOOLS},
        ],
        "bos_token": {"content": "<B>"},
        "eos_token": "<E>",
        "add_bos_token": True,
    }
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    chat = ChatTemplate.load(tmp_path, worker=worker)
    assert rendered(chat) == "<user>Hi<E><assistant>"
    assert rendered(chat, TOOLS).startswith("<<tools>><B>")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nowhere.gguf", "nowhere.gguf: there is no such file or folder"),
        (
            "notes.txt",
            "notes.txt: is neither a .jinja file nor a .gguf file nor a model folder; "
            "if it is a template, call it NAME.jinja",
        ),
    ],
)
def test_sources_that_cant_be_read(name: str, problem: str, tmp_path: Path) -> None:
    if name.endswith(".txt"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    with pytest.raises(ChatError) as raised:
        ChatTemplate.load(tmp_path / name)
    assert str(raised.value) == f"{tmp_path}/{problem}"


def test_a_name_that_no_format_has() -> None:
    with pytest.raises(ChatError) as raised:
        ChatTemplate.named("vicuna")
    assert str(raised.value) == (
        "no format is named vicuna; there are chatml, glm4, llama2, llama3, qwen3"
    )


@pytest.mark.parametrize("name", NAMED_FORMATS)
def test_the_specs_of_named_formats_are_fresh_and_predict(name: str, worker: RenderWorker) -> None:
    text, spec = named_format(name)
    source = TemplateSource(name, text, f"{name}.jinja", "local", {})
    analysis = analyze_template(source, worker)
    assert analysis.spec is not None
    assert dump_spec(analysis.spec) == dump_spec(spec)
    renderer = Renderer.create(spec, Chat(worker, text, {}, analysis.dialect))
    assert predict(spec, renderer).failed == 0


@pytest.mark.parametrize("name", NAMED_FORMATS)
def test_named_formats_name_their_tokens(name: str) -> None:
    assert ChatTemplate.named(name).notes == ()
