"""Calls with rarer signs are read as others are: brackets, what parts arguments, quotes."""

from __future__ import annotations

import json

import pytest

from tests.parser_checks import stream
from tests.test_empty_calls import template
from tests.test_right_formats import built, spec_alone, spec_in
from turnspec.codegen.loading import load
from turnspec.spec.words import Condition, Subject, Verdict

_KEYED = (
    "{{{{ f.name }}}}({{% for k, v in a.items() %}}{}{{{{ {!r} if not loop.last }}}}{{% endfor %}})"
)
_QUOTED = '{{ k }}={% if v is string %}"""{{ v }}"""{% else %}{{ v }}{% endif %}'
#: How a template writes a call, and a turn with one of them.
CALLS = {
    "wide brackets": (
        "【use】tool: {{ f.name }}; with: {{ a | tojson }}【/use】",
        '【use】tool: look; with: {"x": "1", "n": ["it\'s"]}【/use】',
    ),
    "a bar between arguments": (
        f"<use>{_KEYED.format('{{ k }}={{ v | tojson }}', ' | ')}</use>",
        '<use>look(x="1" | n=["it\'s"])</use>',
    ),
    "three quotes around strings, and literals of Python": (
        f"<use>{_KEYED.format(_QUOTED, ', ')}</use>",
        '<use>look(x="""1""", n=["it\'s"])</use>',
    ),
}
#: How a template writes a string of which it escapes the quote alone; one, and what it says.
ESCAPED = {
    "single quotes": (
        '{{ "\'" ~ v | replace("\'", "\\\\\'") ~ "\'" }}',
        "'it\\'s \"so\"\non'",
        'it\'s "so"\non',
    ),
    "double quotes": (
        "{{ '\"' ~ v | replace('\"', '\\\\\"') ~ '\"' }}",
        '"it\'s \\"so\\"\non"',
        'it\'s "so"\non',
    ),
}
TOOLS = [{"name": "look", "parameters": {"type": "object", "properties": {}}}]


@pytest.mark.parametrize("case", CALLS)
def test_the_ladder_is_green_and_a_turn_is_read_in_any_pieces(case: str) -> None:
    call, written = CALLS[case]
    build = built("signs", template(call))
    assert build.result is not None
    failed = {rung: found.example for rung, found in build.result.rungs.items() if found.failed}
    assert (build.problems, build.objections, failed) == ((), (), {})
    module, text = load(spec_in(build)), f"Hm.{written}<:end:>"
    for size in (1, 2, 3, len(text)):
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        message, _ = stream(module, pieces, tools=TOOLS)
        assert (message.content, message.problems) == ("Hm.", [])
        assert json.loads(message.tool_calls[0].arguments) == {"x": "1", "n": ["it's"]}


def test_a_value_of_json_is_read_in_single_quotes() -> None:
    call = f"<use>{_KEYED.format('{{ k }}={{ v | tojson }}', ', ')}</use>"
    module = load(spec_alone("single", template(call)))
    for written, read in (("'a b'", "a b"), ("'f('a') b'", "f('a') b"), ("\"'a')\"", "'a')")):
        text = f"<use>look(n=1, x={written})</use><:end:>"
        for size in (1, 2, len(text)):
            pieces = [text[start : start + size] for start in range(0, len(text), size)]
            found = stream(module, pieces, tools=TOOLS)[0].tool_calls[0]
            assert (json.loads(found.arguments), found.complete) == ({"n": 1, "x": read}, True)


def test_blanks_may_be_in_the_json_of_a_head() -> None:
    call = '<use>{{ f.name }}<json>{"name":"{{ f.name }}","args":{{ a | tojson }}}</use>'
    module = load(spec_alone("blanks", template(call)))
    for head in ('{"name":"look","args":', '{ "name": "look", "args": '):
        message = module.parse(f'<use>look<json>{head}{{"x": 1}}}}</use><:end:>', tools=TOOLS)
        assert [it.arguments for it in message.tool_calls] == ['{"x": 1}'], head
        assert (message.content, message.problems) == ("", []), head


def test_content_that_is_refused_beside_calls_is_a_limit() -> None:
    refused = "{% if m.content %}{{ raise_exception('One of them.') }}{% endif %}"
    build = built("refused", template(f"{refused}<use>{{{{ f | tojson }}}}</use>"))
    assert (build.problems, build.objections) == ((), ())
    limit = spec_in(build).limits[0]
    found = (limit.subject, limit.verdict, limit.when)
    assert found == (Subject.CONTENT, Verdict.DROPS, Condition.WITH_CALLS)
    assert "One of them." in limit.reason


@pytest.mark.parametrize("case", ESCAPED)
def test_strings_of_which_the_quote_alone_is_escaped(case: str) -> None:
    string, written, said = ESCAPED[case]
    value = (
        f"{{{{ k }}}}={{% if v is string %}}{string}{{% else %}}{{{{ v | tojson }}}}{{% endif %}}"
    )
    build = built("escaped", template(f"<use>{_KEYED.format(value, ', ')}</use>"))
    assert build.result is not None
    failed = {rung: found.example for rung, found in build.result.rungs.items() if found.failed}
    assert (build.problems, build.objections, failed) == ((), (), {})
    spec = spec_in(build)
    limits = [it for it in spec.limits if it.subject is Subject.ARGUMENT_STRING]
    assert [it.verdict for it in limits] == [Verdict.AMBIGUOUS]
    assert "\\" in limits[0].characters
    assert not {"'", '"'} & set(limits[0].characters)
    message = load(spec).parse(f"<use>look(x={written}, n=1)</use><:end:>", tools=TOOLS)
    assert (json.loads(message.tool_calls[0].arguments), message.problems) == (
        {"x": said, "n": 1},
        [],
    )


def test_content_that_stands_for_missing_thought_beside_calls_alone() -> None:
    thought = "<muse>{{ m.reasoning_content or m.content or '' }}</muse>"
    text = (
        "{% for m in messages %}<:{{ m.role }}:>{% if m.tool_calls %}"
        f"{thought}{{% for call in m.tool_calls %}}<use>{{{{ call.function | tojson }}}}</use>"
        "{% endfor %}{% else %}{{ m.content or '' }}{% endif %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}"
    )
    build = built("moved", text)
    assert build.result is not None
    failed = {rung: found.example for rung, found in build.result.rungs.items() if found.failed}
    assert (build.problems, build.objections, failed) == ((), (), {})
    limit = next(it for it in spec_in(build).limits if it.verdict is Verdict.MOVES)
    assert (limit.subject, limit.when) == (Subject.CONTENT, Condition.WITH_CALLS)


def test_arguments_in_a_string_that_holds_json() -> None:
    call = "<use>{{ {'name': f.name, 'with': f.arguments | tojson} | tojson }}</use>"
    build = built("held", template(call))
    assert build.result is not None
    assert not any(found.failed for found in build.result.rungs.values())
    spec = spec_in(build)
    message = load(spec).parse('<use>{"name": "look", "with": "{\\"x\\": 1}"}</use><:end:>')
    assert [(it.name, it.arguments) for it in message.tool_calls] == [("look", '{"x": 1}')]
    assert message.problems == []
    assert not any(it.subject is Subject.ARGUMENT_STRING for it in spec.limits)


def test_raw_values_that_end_where_something_else_begins() -> None:
    item = "<:k:>{{ k }}<:v:>{{ v if v is string else v | tojson }}"
    text = (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}{% if m.tool_calls %}<:do:>"
        "{% for call in m.tool_calls %}<:f:>{{ call.function.name }}"
        f"{{% for k, v in call.function.arguments.items() %}}{item}{{% endfor %}}{{% endfor %}}"
        "<:did:>{% endif %}<:end:>{% endfor %}"
        "{% if add_generation_prompt %}<:assistant:>{% endif %}"
    )
    build = built("unclosed", text)
    assert build.result is not None
    failed = {rung: found.example for rung, found in build.result.rungs.items() if found.failed}
    assert (build.problems, build.objections, failed) == ((), (), {})
    turn = "<:do:><:f:>look<:k:>x<:v:>a b <:k:>n<:v:>c<:f:>look<:did:><:end:>"
    message = load(spec_in(build)).parse(turn, tools=TOOLS)
    assert [(json.loads(it.arguments), it.complete) for it in message.tool_calls] == [
        ({"x": "a b ", "n": "c"}, True),
        ({}, True),
    ]
    assert message.problems == []


def test_empty_elements_whose_attributes_are_arguments() -> None:
    """What ends a call without any is no sign of its name; a quote that has an entity is told."""
    escaped = "| replace('&', '&amp;') | replace('\"', '&quot;') | replace('<', '&lt;')"
    value = f"{{{{ (v if v is string else v | tojson) {escaped} }}}}"
    call = (
        f'<use {{{{ f.name }}}}{{% for k, v in a.items() %}} {{{{ k }}}}="{value}"{{% endfor %}}/>'
    )
    spec = spec_alone("attributes", template(call))
    assert [it for it in spec.limits if it.subject is Subject.ARGUMENT_STRING] == []
    text = '<use look/><use look x="1" n="&quot;it&quot;"/><:end:>'
    message = load(spec).parse(text, tools=TOOLS)
    arguments = [json.loads(it.arguments) for it in message.tool_calls]
    assert (arguments, message.problems) == ([{}, {"x": "1", "n": '"it"'}], [])


_SEVERAL = """\
{{%- for m in messages %}}<:{{{{ m.role }}}}:>{{{{ m.content or '' }}}}
{{%- if m.tool_calls %}}{before}{{% for c in m.tool_calls %}}{{%- set f = c.function %}}
{{%- set a = f.arguments %}}{call}{{{{ {between!r} if not loop.last }}}}
{{%- endfor %}}{after}{{% endif %}}<:end:>
{{%- endfor %}}{{%- if add_generation_prompt %}}<:assistant:>{{% endif %}}"""


@pytest.mark.parametrize("between", [" && ", ";\n", "|", ", "])
@pytest.mark.parametrize("head", ["<use:{{ f.name }}>", "[no {{ c.id }}]<|f|>{{ f.name }}<|a|>"])
def test_a_sign_parts_calls_that_are_in_no_section(between: str, head: str) -> None:
    """But in content it is text, be it before a call."""
    call = f"{head}{{{{ a | tojson }}}}</use>"
    build = built("signs", _SEVERAL.format(before="", after="", call=call, between=between))
    assert build.result is not None
    failed = {rung: found.example for rung, found in build.result.rungs.items() if found.failed}
    assert (build.problems, build.objections, failed) == ((), (), {})
    begun = head.replace("{{ f.name }}", "look").replace("{{ c.id }}", "7")
    one = begun + '{"x": "a' + between.strip() + '"}</use>'
    text = f"Hm {between.strip()}{one}{between}{one}<:end:>"
    module = load(spec_in(build))
    for size in (1, 3, len(text)):
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        message, _ = stream(module, pieces, tools=TOOLS)
        assert (message.content.strip(), message.problems) == (f"Hm {between.strip()}", [])
        assert [call.name for call in message.tool_calls] == ["look", "look"]


@pytest.mark.parametrize(
    ("head", "sections"),
    [("«{{ f.name }}» ", ("<|do|>", "<|/do|>")), ("@{{ f.name }}: ", ("\n```calls\n", "\n```"))],
)
@pytest.mark.parametrize("between", ["|", "\n"])
def test_a_head_alone_is_a_call_only_if_no_arguments_follow(
    head: str, sections: tuple[str, str], between: str
) -> None:
    before, after = (f"{{{{ {text!r} }}}}" for text in sections)
    call = f"{{{{ {head.partition('{{')[0]!r} }}}}{head[1:]}{{{{ a | tojson if a }}}}"
    text = _SEVERAL.format(before=before, after=after, call=call, between=between)
    build = built("signs", text)
    assert build.result is not None
    failed = {rung: found.example for rung, found in build.result.rungs.items() if found.failed}
    assert (build.problems, build.objections, failed) == ((), (), {})
    begun = head.replace("{{ f.name }}", "look")
    calls = between.join([begun, begun + '{"x": 1}', begun])
    message = load(spec_in(build)).parse(f"{sections[0]}{calls}{sections[1]}<:end:>")
    assert [call.arguments for call in message.tool_calls] == ["{}", '{"x": 1}', "{}"]
    assert (message.content, message.problems) == ("", [])
