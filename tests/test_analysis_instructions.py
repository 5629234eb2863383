"""What a prompt says of calls and reasoning, and the overlays drafted from it."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.own_templates import given_template, own_template, spec_of
from turnspec.analysis.analyze import ASSUMED_TOKENS, analyze_template
from turnspec.analysis.call_examples import find_call_example
from turnspec.analysis.instructions import (
    Instructions,
    difference,
    plain_instructions,
    tool_instructions,
)
from turnspec.analysis.overlay_draft import Advice, advise, draft_overlay, draft_problems
from turnspec.analysis.source import TemplateSource
from turnspec.analysis.tag_examples import empty_pairs
from turnspec.pipeline.build import build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.conversation import USER_TEXT, Chat
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.calls import Literal, Tools
from turnspec.spec.model import Spec
from turnspec.spec.overlay import Overlay, OverlayText, read_overlay
from turnspec.spec.results import RUNGS

DESCRIBED = ("calls-only-described", "code-only-described", "thoughts-only-described")


def chat_of(source: TemplateSource, worker: RenderWorker) -> Chat:
    return Chat(worker, source.text, ASSUMED_TOKENS)


def advice_of(name: str, worker: RenderWorker) -> Advice:
    source = own_template(name)
    return advise(spec_of(name, worker), source, chat_of(source, worker))


def example_in(text: str) -> Tools | None:
    """Return how calls are written by what a prompt with this text says."""
    found = find_call_example([Instructions(text, {}, "", tools=True)])
    return found[0].tools if found else None


def in_one(tools: Tools) -> str:
    """Return the pieces of a call in one line, the section around them in brackets."""

    def joined(pieces: object) -> str:
        assert isinstance(pieces, tuple)
        return "".join(
            piece.text if isinstance(piece, Literal) else f"«{piece.kind}»" for piece in pieces
        )

    section = f"({tools.section_start})" if tools.section_start else ""
    closing = f"({tools.section_end})" if tools.section_end else ""
    item = joined(tools.arguments.item)
    call = joined(tools.call)
    return section + (call.replace("«ARGUMENTS»", f"«{item}»") if item else call) + closing


@pytest.mark.parametrize("name", DESCRIBED)
def test_the_difference_and_the_draft(
    name: str, worker: RenderWorker, snapshot: SnapshotAssertion
) -> None:
    draft = advice_of(name, worker).draft
    assert draft is not None
    assert [(said.setting, said.text) for said in draft.said] == snapshot(name="said")
    assert draft.text == snapshot(name="draft")


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_draft_can_be_read_and_applied_and_its_parser_holds(
    name: str, worker: RenderWorker
) -> None:
    advice = advice_of(name, worker)
    assert advice.draft is not None
    assert advice.draft_problems == ()
    overlay = read_overlay(advice.draft.text, "draft.yaml")
    assert isinstance(overlay, Overlay)
    assert tuple(key.key for key in overlay.keys) == advice.draft.keys
    assert all(key.quote in own_template(name).text and key.quote for key in overlay.keys)
    source = own_template(name)
    given = TemplateSource(
        source.name,
        source.text,
        source.file,
        source.origin,
        source.tokens,
        OverlayText("draft.yaml", advice.draft.text),
    )
    build = build_template(given, OutputPaths.in_folder(name), messages=5, worker=worker)
    assert build.problems == ()
    assert build.result is not None
    assert list(build.result.rungs) == list(RUNGS)
    assert all(found.is_passed for found in build.result.rungs.values())


def test_what_a_prompt_says_is_what_its_template_renders(worker: RenderWorker) -> None:
    name = "calls-described-and-rendered"
    found = find_call_example(tool_instructions(chat_of(own_template(name), worker)))
    rendered = spec_of(name, worker).tools
    assert found is not None
    assert rendered is not None
    tools = found[0].tools
    assert (tools.mode, tools.call) == (rendered.mode, rendered.call)
    assert tools.arguments == rendered.arguments


def test_a_marker_that_begins_messages_is_none_of_calls() -> None:
    text = "<sys>One JSON object a call:…</sys>"
    for without, is_call in (("<sys>sysqa</sys>", False), ("<sys>\nusrqa", False), ("sysqa", True)):
        found = find_call_example([Instructions(text, {}, without, tools=True)])
        assert (found is not None) is is_call


def test_a_template_that_says_nothing_has_no_draft(worker: RenderWorker) -> None:
    assert advice_of("plain-content", worker) == Advice(("reasoning markers", "calls"))


def test_what_the_spec_has_is_not_drafted(worker: RenderWorker) -> None:
    advice = advice_of("calls-described-and-rendered", worker)
    assert advice == Advice(("reasoning markers",))


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("thinking-switch", ("calls",)),
        ("name-as-key", ("reasoning markers",)),
        ("stripped-reasoning", ("reasoning in a rendered message", "calls")),
    ],
)
def test_what_was_not_found(name: str, missing: tuple[str, ...], worker: RenderWorker) -> None:
    assert advice_of(name, worker).missing == missing


def test_a_draft_that_cannot_be_applied_says_why(worker: RenderWorker) -> None:
    draft = advice_of("calls-only-described", worker).draft
    assert draft is not None
    spec = spec_of("calls-described-and-rendered", worker)
    source = own_template("calls-described-and-rendered")
    file = "calls-described-and-rendered.overlay-draft.yaml"
    assert draft_problems(draft, spec, source) == [
        f"{file}:5: template: the template here is {source.file}",
        f"{file}:6: sha256: for another text of {source.file}; look at its keys again, "
        f"then set this to {spec.template.sha256}",
        f"{file}:29: keys[0].quote: {source.file} doesn't say this",
    ]


def test_the_difference_is_whole_sentences_and_lines() -> None:
    plain = "Be kind. Be brief.\nend\n"
    told = "Be kind. Call so: <a>. Be brief.\nend\n"
    assert difference(plain, told) == "Call so: <a>. "
    assert difference("", "all\nof it") == "all\nof it"


def test_tools_are_cut_out_however_they_are_listed(worker: RenderWorker) -> None:
    frames = {
        "{{ tools | tojson }}": "Here: […] Now.\n",
        "{{ tools | tojson(indent=2) }}": "Here: […\n] Now.\n",
        "{% for t in tools %}<t>{{ t.function.name }}</t>{% endfor %}": "Here: … Now.\n",
        "{% for t in tools %}{{ t.function.name }} {{ t }}; {% endfor %}": "Here:… Now.\n",
    }
    for listing, said in frames.items():
        text = f"{{% if tools %}}Here: {listing} Now.\n{{% endif %}}{{{{ messages[-1].content }}}}"
        chat = chat_of(given_template(text), worker)
        assert tool_instructions(chat)[0].text == said, listing


def test_every_setting_of_the_switches_is_tried(worker: RenderWorker) -> None:
    text = (
        "{% if messages[0].role != 'system' %}Hello.{% endif %}"
        "{% if depth == 'low' %} Hurry.{% endif %}{{ '\\n' + messages[-1].content }}"
    )
    chat = chat_of(given_template(text), worker)
    said = [(found.setting, found.text) for found in plain_instructions(chat)]
    assert said == [
        ("no system message", "Hello.\n"),
        ('no system message and depth="low"', "Hello. Hurry.\n"),
    ]


def test_where_no_system_message_shows_all_of_the_prompt_says_it(worker: RenderWorker) -> None:
    chat = chat_of(given_template("Think in <muse>…</muse>. {{ messages[-1].content }}"), worker)
    assert [(found.text, found.without) for found in plain_instructions(chat)] == [
        (f"Think in <muse>…</muse>. {USER_TEXT}", "")
    ]


@pytest.mark.parametrize(
    ("text", "call"),
    [
        (
            'Say so:\n<do>\n{"fn": <a name>, "in": <its input>}\n</do><end>',
            '<do>\n{"fn": "«NAME»", "in": «ARGUMENTS»}\n</do>',
        ),
        (
            "Say so:\n<do>\n{'in': <its input>, 'fn': <a name>}\n</do><end>",
            '<do>\n{"fn": "«NAME»", "in": «ARGUMENTS»}\n</do>',
        ),
        (
            'Say so:\n<do>\n{"name of it": <a word>, "in": <its input>}\n</do><end>',
            '<do>\n{"name of it": "«NAME»", "in": «ARGUMENTS»}\n</do>',
        ),
        (
            'as <dos>[{"fn": a name, "in": {"key": 1}}, {"fn": other, "in": {}}, ...]</dos>.',
            '(<dos>[){"fn": "«NAME»", "in": «ARGUMENTS»}(]</dos>)',
        ),
        (
            'as <dos>\n{"fn": "one", "in": {}}\n...\n</dos>.',
            '(<dos>\n){"fn": "«NAME»", "in": «ARGUMENTS»}(\n</dos>)',
        ),
        (
            '<dos>[{{"fn": "one", "in": "two"}}]</dos>',
            '(<dos>[){"fn": "«NAME»", "in": «ARGUMENTS»}(]</dos>)',
        ),
        (
            'in a list as calls[{"fn": [a name], "in": [an object]}, ...], please',
            '(calls[){"fn": "«NAME»", "in": «ARGUMENTS»}(])',
        ),
        (
            'Then:\n```json\n[\n  {\n    "fn": its name,\n    "in": a dict, or {}\n  }\n]```',
            '(```json\n[){"fn": "«NAME»", "in": «ARGUMENTS»}(]```)',
        ),
        (
            'Use {"fn": its name, "in": a dictionary of words}.',
            '{"fn": "«NAME»", "in": «ARGUMENTS»}',
        ),
        ('an example: <run=a_tool>{"key": "value"}</run>', "<run=«NAME»>«ARGUMENTS»</run>"),
        (
            '<|open|>tool<|for|>a_tool\n```json\n{\n  "key": "value"\n  ...\n}\n```\n<|shut|>',
            "<|open|>tool<|for|>«NAME»\n```json\n«ARGUMENTS»\n```\n<|shut|>",
        ),
        (
            "<run=a_tool>\n<arg=one>\nfirst\n</arg>\n<arg=two>\nlong\ntext\n</arg>\n</run>",
            "<run=«NAME»>\n«<arg=«KEY»>\n«VALUE»\n</arg>»</run>",
        ),
        (
            "in '<run>' and '</run>', so:\n<run>a-tool\n<k>a-key</k>\n<v>its value</v>\n</run>",
            "<run>«NAME»\n«<k>«KEY»</k>\n<v>«VALUE»</v>»</run>",
        ),
        (
            "Answer with <|do|> followed by a JSON list of calls.",
            '(<|do|>[){"name": "«NAME»", "arguments": «ARGUMENTS»}(])',
        ),
        (
            'Write <|GO|> and a JSON object with "fn" and "in". Close it with <|STAY|>.',
            '<|GO|>{"fn": "«NAME»", "in": «ARGUMENTS»}<|STAY|>',
        ),
        ("In brackets: [one(a=first, b='2', ...), two()]", "([)«NAME»(««KEY»=«VALUE»»)(])"),
        ("[one(a=first), two(), three()]", "([)«NAME»(««KEY»=«VALUE»»)(])"),
        ("[{name}({key} = {value})]", "([)«NAME»(««KEY»=«VALUE»»)(])"),
        ("<do>[a_tool(key=<its value>)]</do>", "(<do>[)«NAME»(««KEY»=«VALUE»»)(]</do>)"),
        ("Then:\n```code\nrun(x=1)\n```", "(```code\n)«NAME»(««KEY»=«VALUE»»)(\n```)"),
    ],
)
def test_examples_of_calls_are_read(text: str, call: str) -> None:
    tools = example_in(text)
    assert tools is not None
    assert in_one(tools) == call


@pytest.mark.parametrize(
    "text",
    [
        "Just talk.",
        "Write calls within <call></call>.",
        "The tool f(x=1) doubles, and [g()] does nothing.",
        '{"name": "real", "data": {"is": "no example"}}',
        "{'name': 'real', 'data': {'is': 'no example'}}",
        '<data>{"one": 1}</data>',
        "<note>\nBe kind:\n- always\n</note>",
        "The tools, as JSON: <tools>…</tools>",
        "<tools>… stands for JSON",
        "<sys><role>tool_json_schemas\n[…]",
        '{"never": closed',
        "{" * 50 + '"a": ' * 50,
        "Begin with f(" + "a=b, " * 60 + "and so on.",
        "<private>\ue000</private>",
    ],
)
def test_what_is_no_example_is_none(text: str) -> None:
    assert example_in(text) is None


def test_the_words_of_an_example_of_code_are_its_own() -> None:
    text = "Where sum(x=1) is known:\n[one(a=first), two()]"
    found = find_call_example([Instructions(text, {}, "", tools=True)])
    assert found is not None
    assert found[0].evidence == "one(a=first)"


def test_pairs_of_tags_in_prose() -> None:
    text = "in <a></a>, then <b> a hint </b>\n<c>\nno\n</c> <d>usrqa</d> <e> <f>\n...\n</f>"
    assert [(left.text, right.text) for left, right in empty_pairs(text)] == [
        ("<a>", "</a>"),
        ("<b>", "</b>"),
        ("<f>", "</f>"),
    ]


def test_the_spec_of_a_template_is_not_changed_by_advice(worker: RenderWorker) -> None:
    source = own_template("calls-only-described")
    paths = OutputPaths.in_folder(source.name)
    plain = build_template(source, paths, worker=worker)
    advised = build_template(source, paths, worker=worker, with_advice=True)
    assert plain.advice is None
    assert advised.advice is not None
    assert plain.files == advised.files
    assert isinstance(spec_of(source.name, worker), Spec)


@pytest.mark.parametrize("said", ["", " Think in <muse></muse>, call in <do></do>."])
def test_tags_of_tools_and_of_calls_hold_no_thoughts(said: str, worker: RenderWorker) -> None:
    text = (
        "{% if messages[0].role != 'system' %}You have <kit>"
        f"{{% if tools %}}{{{{ tools | tojson }}}}{{% endif %}}</kit>.{said}\n{{% endif %}}"
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls or [] %}"
        '<do>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}'
        "</do>{% endfor %}</over>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
    )
    source = given_template(text)
    spec = analyze_template(source, worker).spec
    assert spec is not None
    draft = draft_overlay(spec, source, chat_of(source, worker))
    assert (draft.keys if draft else ()) == (("reasoning",) if said else ())


def test_what_a_word_in_a_system_message_brings_in_is_drafted(worker: RenderWorker) -> None:
    text = (
        "{% for m in messages %}<:{{ m.role }}:>"
        "{% if m.role == 'system' and '/deep' in m.content %}"
        "First think, as in <muse>a draft</muse> and only then reply.\n{% endif %}"
        "{{ m.content }}<:end:>{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}"
    )
    source = given_template(text, "deep")
    chat = chat_of(source, worker)
    spec = analyze_template(source, worker).spec
    assert spec is not None
    draft = draft_overlay(spec, source, chat)
    assert draft is not None
    assert draft.keys == ("reasoning",)
    assert [said.setting for said in draft.said] == ['"/deep" in a system message']
    assert 'start: "<muse>"' in draft.text
    # The word itself says nothing, be it a tag.
    quoted = text.replace("'/deep'", "'<muse></muse>'").replace("<muse>a draft</muse>", "mind")
    plain = given_template(quoted, "plain")
    assert draft_overlay(spec, plain, chat_of(plain, worker)) is None
