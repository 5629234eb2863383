"""Messages of other shapes: what a template reads in other places, under other names, is found."""

from __future__ import annotations

import pytest
from jinja2 import Environment

from tests.own_templates import given_template
from turnspec.analysis.analyze import ASSUMED_TOKENS, analyze_template
from turnspec.analysis.findings import Derivation
from turnspec.analysis.insistence import find_insistence
from turnspec.chat.form import find_form
from turnspec.chat.messages import Turn, write_messages
from turnspec.pipeline.build import build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.conversation import Chat
from turnspec.rendering.dialect import CallShape, Dialect, at_place, merged
from turnspec.rendering.paths import find_places
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.calls import Literal
from turnspec.spec.message import Call, Message
from turnspec.spec.model import Spec
from turnspec.spec.words import ReasoningMode

_FRAME = (
    "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}BODY{% else %}"
    "{{ m.content }}{% endif %}</over>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
_TEXT = "{{ m.content or '' }}"
_DEED = '<do what="{{ NAME }}">{{ HOW | tojson }}</do>'


def _template(body: str) -> str:
    return _FRAME.replace("BODY", body)


def _deeds(items: str, name: str, how: str) -> str:
    deed = _DEED.replace("NAME", name).replace("HOW", how)
    return f"{{% for c in {items} or [] %}}{deed}{{% endfor %}}"


_USUAL = _deeds("m.tool_calls", "c.function.name", "c.function.arguments")


def _spec(body: str, worker: RenderWorker) -> Spec:
    found = analyze_template(given_template(_template(body)), worker)
    assert found.spec is not None, found.problems
    return found.spec


def _dialect(body: str, worker: RenderWorker) -> Dialect:
    return analyze_template(given_template(_template(body)), worker).dialect


#: What a template does with thoughts, and the place that they are read from.
THOUGHTS = {
    "in a mapping": ("{% if m.mind %}<m>{{ m.mind.words }}</m>{% endif %}", "mind.words"),
    "under a key that begins as another": (
        "{% if m.content_notes %}<m>{{ m.content_notes.words }}</m>{% endif %}",
        "content_notes.words",
    ),
    "deep in mappings": ("{% if m.a is defined %}<m>{{ m.a.b['c'] }}</m>{% endif %}", "a.b.c"),
    "by a method": (
        "{% if m.get('more', {}).get('mind') %}<m>{{ m.more.mind }}</m>{% endif %}",
        "more.mind",
    ),
    "in each of a list": (
        "{% for t in m.minds or [] %}<m>{{ t.said }}</m>{% endfor %}",
        "minds[].said",
    ),
    "as a list of texts": ("{% for t in m.minds or [] %}<m>{{ t }}</m>{% endfor %}", "minds[]"),
    "in the first of a list": (
        "{% if m.minds %}<m>{{ m.minds[0].said }}</m>{% endif %}",
        "minds[].said",
    ),
    "where an element says what it is": (
        "{% for t in m.minds or [] %}{% if t.kind == 'loud' %}<m>{{ t.said }}</m>{% endif %}"
        "{% endfor %}",
        "minds[kind=loud].said",
    ),
    "joined by a filter": (
        "{% set t = m.minds | default([]) | map(attribute='said') | join %}"
        "{% if t %}<m>{{ t }}</m>{% endif %}",
        "minds[].said",
    ),
    "by a namespace": (
        "{% set ns = namespace(t='') %}{% for t in m.minds or [] %}{% set ns.t = ns.t ~ t.said %}"
        "{% endfor %}{% if ns.t %}<m>{{ ns.t }}</m>{% endif %}",
        "minds[].said",
    ),
}


@pytest.mark.parametrize(("thoughts", "place"), THOUGHTS.values(), ids=THOUGHTS)
def test_thoughts_are_found_where_they_lie(thoughts: str, place: str, worker: RenderWorker) -> None:
    reasoning = _spec(thoughts + _TEXT + _USUAL, worker).reasoning
    assert (reasoning.field, reasoning.start, reasoning.end) == (place, "<m>", "</m>")


@pytest.mark.parametrize(
    "older",
    [
        "{% if m.old %}<old>{{ m.old.name }}: {{ m.old.how }}</old>{% endif %}",
        "{% for o in m.olds or [] %}<old {{ o.name }}>{{ o.how }}</old>{% endfor %}",
    ],
)
def test_two_texts_that_stand_together_are_no_thoughts(older: str, worker: RenderWorker) -> None:
    assert _spec(older + _TEXT + _USUAL, worker).reasoning.field is None


#: Where a template reads calls, and the shape that is found.
CALLS = {
    "one under a key": (
        "{% if m.deed %}"
        + _DEED.replace("NAME", "m.deed.name").replace("HOW", "m.deed.how")
        + "{% endif %}",
        CallShape("deed", "name", "how", ()),
    ),
    "one under a key, its arguments a text": (
        "{% if m.deed %}{{ '<do>' + m.deed.name + ' ' + m.deed.how + '</do>' }}{% endif %}",
        CallShape("deed", "name", "how", ()),
    ),
    "one under a key that is written whole": (
        "{% if m.deed %}<do>{{ m.deed | tojson }}</do>{% endif %}",
        CallShape("deed", "name", "arguments", ()),
    ),
    "with other keys": (
        _deeds("m.tool_calls", "c.what", "c.how"),
        CallShape("tool_calls[]", "what", "how", ()),
    ),
    "under another key": (
        _deeds("m.deeds", "c.do.what", "c.do.how"),
        CallShape("deeds[]", "do.what", "do.how", ()),
    ),
    "with arguments as a list": (
        "{% for c in m.tool_calls or [] %}<do what={{ c.function.name }}>"
        "{% for a in c.function.arguments %}<a k={{ a.key }}>"
        "{{ a.it if a.it is string else a.it | tojson }}</a>{% endfor %}</do>{% endfor %}",
        CallShape("tool_calls[]", "function.name", "function.arguments", (), ("key", "it")),
    ),
}


@pytest.mark.parametrize(("calls", "shape"), CALLS.values(), ids=CALLS)
def test_calls_are_found_where_they_lie(calls: str, shape: CallShape, worker: RenderWorker) -> None:
    assert _dialect(_TEXT + calls, worker).call_shape == shape
    assert _spec(_TEXT + calls, worker).tools is not None


def test_a_call_under_a_key_of_its_own_is_written_whole_without_a_type(
    worker: RenderWorker,
) -> None:
    tools = _spec(_TEXT + CALLS["one under a key that is written whole"][0], worker).tools
    assert tools is not None
    assert tools.call[0] == Literal('<do>{"name": "')


def test_what_holds_calls_is_no_thought(worker: RenderWorker) -> None:
    deed = "{% if m.role == 'assistant' and m.deed %}<do>{{ m.deed | tojson }}</do>{% endif %}"
    spec = _spec(deed + _TEXT, worker)
    assert spec.tools is not None
    assert spec.reasoning.mode is ReasoningMode.NONE


PARTS = (
    "{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}"
    "{% if p.is == 'words' %}{{ p.words }}{% elif p.is == 'mind' %}<m>{{ p.mind }}</m>"
    "{% elif p.is == 'deed' %}<do id={{ p.deedId }} what={{ p.what }}>{{ p.how | tojson }}</do>"
    "{% elif p.is == 'outcome' %}[{{ p.of }}: {{ p.outcome }}]{% endif %}{% endfor %}{% endif %}"
)


def test_calls_may_be_parts_of_content(worker: RenderWorker) -> None:
    dialect = _dialect(PARTS, worker)
    shape = CallShape(
        "content[is=deed]", "what", "how", ("deedId",), text="content[is=words].words"
    )
    assert dialect.call_shape == shape
    assert dialect.reasoning_field == "mind"
    call = Call("sail", {"to": "Ghent"}, "d1")
    given = Chat(worker, "", {}, dialect).assistant_message(Message("Ahoy.", "So.", (call,)))
    assert given["content"] == [
        {"is": "mind", "mind": "So."},
        {"is": "words", "words": "Ahoy."},
        {"is": "deed", "deedId": "d1", "what": "sail", "how": {"to": "Ghent"}},
    ]


BUILT = {
    "thoughts in a list": THOUGHTS["in each of a list"][0] + _TEXT + _USUAL,
    "one call under a key": _TEXT + CALLS["one under a key"][0],
    "arguments as a list": _TEXT + CALLS["with arguments as a list"][0],
    "parts of content": PARTS,
    "ids that are numbers": _TEXT
    + "{% for c in m.tool_calls or [] %}<do n={{ c.id | int }} what={{ c.function.name }}>"
    "{{ c.function.arguments | tojson }}</do>{% endfor %}",
}


@pytest.mark.parametrize("body", BUILT.values(), ids=BUILT)
def test_what_is_found_is_verified(body: str) -> None:
    source = given_template(_template(body), "other-shape")
    build = build_template(source, OutputPaths.in_folder(source.name), messages=10)
    assert build.result is not None
    assert [rung for rung, found in build.result.rungs.items() if not found.is_passed] == []


def test_ids_that_are_shown_as_numbers_are_part_of_calls(worker: RenderWorker) -> None:
    tools = _spec(BUILT["ids that are numbers"], worker).tools
    assert tools is not None
    assert tools.call_id.value == "PRE_FUNC_NAME"


#: Templates with names of their own, and those names.
NAMED = {
    "a role": (
        "{% for m in messages %}{% if m.role == 'user' %}<u>{{ m.content }}</u>"
        "{% elif m.role == 'mate' %}<m>{{ m.content }}</m>{% endif %}{% endfor %}",
        {"assistant": "mate"},
    ),
    "a role in a table": (
        "{% for m in messages %}{% set tag = {'user': 'u', 'mate': 'm'}[m.role] %}"
        "<{{ tag }}>{{ m.content }}</{{ tag }}>{% endfor %}",
        {"assistant": "mate"},
    ),
    "keys and roles": (
        "{% for m in messages %}{% if m.by == 'guest' %}<u>{{ m.words }}</u>"
        "{% elif m.by == 'mate' %}<m>{{ m.words }}</m>{% endif %}{% endfor %}",
        {"role": "by", "content": "words", "user": "guest", "assistant": "mate"},
    ),
    "the key of a text": (
        "{% for m in messages %}{% if m.role == 'user' %}<u>{{ m.words }}</u>{% else %}"
        "<m>{{ m.words }}</m>{% endif %}{% endfor %}",
        {"content": "words"},
    ),
}


@pytest.mark.parametrize(("loop", "names"), NAMED.values(), ids=NAMED)
def test_names_of_roles_and_keys(loop: str, names: dict[str, str], worker: RenderWorker) -> None:
    source = loop + "{% if add_generation_prompt %}<m>{% endif %}"
    chat = Chat(worker, source, ASSUMED_TOKENS)
    assert find_insistence(chat, Derivation()).renamed == names
    spec = analyze_template(given_template(source), worker).spec
    assert spec is not None
    assert (spec.turn.header, spec.turn.stop) == ("<m>", ("</m>",))


#: Switches within others, and the values that switch thinking off.
SWITCHES = {
    "in a mapping": ("pondering.type == 'none'", {"pondering": {"type": "none"}}),
    "deeper": ("opts.pondering.level == 'none'", {"opts": {"pondering": {"level": "none"}}}),
    "true or false": ("opts is defined and opts.ponder is false", {"opts": {"ponder": False}}),
    "a number beside a limit": ("opts.steps | default(9) < 1", {"opts": {"steps": 0}}),
    "a word in a list": ("'hasty' in (moods or [])", {"moods": ["hasty"]}),
}


@pytest.mark.parametrize(("is_off", "variables"), SWITCHES.values(), ids=SWITCHES)
def test_switches_within_others(
    is_off: str, variables: dict[str, object], worker: RenderWorker
) -> None:
    source = (
        "{% for m in messages %}<{{ m.role }}>{% if m.thinking %}<m>{{ m.thinking }}</m>{% endif %}"
        "{{ m.content }}</over>{% endfor %}{% if add_generation_prompt %}<assistant>"
        f"{{{{ '<m></m>' if {is_off} else '<m>' }}}}{{% endif %}}"
    )
    for given in ("pondering", "opts"):
        source = source.replace(f"if {given}.", f"if {given} is defined and {given}.")
    spec = analyze_template(given_template(source), worker).spec
    assert spec is not None
    assert spec.thinking.disabled.variables == variables


def test_users_messages_are_written_in_the_shape(worker: RenderWorker) -> None:
    chat = Chat(worker, _template(PARTS), ASSUMED_TOKENS)
    turn = Turn("assistant", "Ahoy.", calls=(Call("sail", {"to": "Ghent"}, "d1"),))
    (written,), problems = write_messages([turn], find_form(chat))
    deed = {"is": "deed", "deedId": "d1", "what": "sail", "how": {"to": "Ghent"}}
    assert not problems
    assert written["content"] == [{"is": "words", "words": "Ahoy."}, deed]


def test_places_are_written_out() -> None:
    assert at_place("a.b", 1) == {"a": {"b": 1}}
    assert at_place("a[].b", 1) == {"a": [{"b": 1}]}
    assert at_place("a[is=x.y].b", 1) == {"a": [{"is": "x.y", "b": 1}]}
    assert merged({"a": [1], "b": {"c": 1}}, {"a": [2], "b": {"d": 2}, "e": 3}) == {
        "a": [1, 2],
        "b": {"c": 1, "d": 2},
        "e": 3,
    }


def test_places_that_a_template_reads() -> None:
    source = (
        "{% macro show(x) %}{{ x.deep.er }}{% endmacro %}{% for m in rows %}"
        "{% set n = m.a or m.b %}{{ show(n) }}{{ n['k'].strip() }}"
        "{% for k, v in m.c.items() %}{{ v.own }}{% endfor %}"
        "{% set m = m.d %}{% if m.e in ['x', 'y'] and m.f > 3 %}{{ m.g[1:] | first }}{% endif %}"
        "{{ m.h | selectattr('i', 'equalto', 'z') | map(attribute='j') | join }}{% endfor %}"
    )
    found = find_places(Environment(autoescape=True).parse(source), ["rows"])
    places = {".".join(place[2:]): list(words) for place, words in found.words.items()}
    assert {"a.deep.er", "b.deep.er", "a.k", "b.k", "c.{}", "d.g.[]", "d.h.[].j"} <= places.keys()
    assert (places["d.e"], places["d.f"], places["d.h.[].i"]) == (["x", "y"], [2, 4], ["z"])
    assert not [place for place in places if "own" in place or "strip" in place or "d.d" in place]
