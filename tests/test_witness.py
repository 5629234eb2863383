"""The second witness: what a template could render and no rung has shown is tried, read and told.

The templates are in ``tests/templates/witness``.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.own_templates import FOLDER, given_template, own_template
from tests.test_cli import run
from turnspec.analysis import dialect, message_form
from turnspec.analysis.analyze import analyze_template
from turnspec.analysis.source import TemplateSource
from turnspec.cli.output import print_build
from turnspec.codegen.loading import load
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.pipeline.build import Build, build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.files import load_checked_spec
from turnspec.spec.model import Spec
from turnspec.spec.results import RUNGS, SANITY, Coverage
from turnspec.spec.words import Part
from turnspec.verification.gbnf_reader import Grammar, read_grammar
from turnspec.verification.recognizer import Recognizer

WITNESS = FOLDER / "witness"
#: Random messages: the witness needs none.
FEW = 10


def template(name: str) -> TemplateSource:
    return given_template((WITNESS / f"{name}.jinja").read_text(encoding="utf-8"), name)


def built(source: TemplateSource) -> Build:
    build = build_template(source, OutputPaths.in_folder(source.name), messages=FEW)
    assert (build.problems, build.result is not None) == ((), True)
    return build


def coverage(build: Build) -> Coverage:
    assert build.result is not None
    assert build.result.coverage is not None
    return build.result.coverage


def failed(build: Build) -> set[str]:
    assert build.result is not None
    return {name for name in RUNGS if not build.result.rungs[name].is_passed}


def objections(build: Build) -> list[str]:
    return [f"{problem.path}: {problem.message}" for problem in build.objections]


def spec_in(build: Build) -> Spec:
    spec = load_checked_spec(build.files[OutputPaths.in_folder(build.name).spec], "the.yaml")
    assert isinstance(spec, Spec)
    return spec


def test_a_text_in_calls_that_costs_them_fails_the_format() -> None:
    """Every other check of every rung passes, as no message that the spec knows has the key."""
    build = built(template("asides-in-calls"))
    assert failed(build) == {SANITY}
    (found,) = objections(build)
    assert found.startswith("turn: a call is lost where 'aside' is given beside a call: ")
    assert "<|aside|>witqa" in found


def test_reasoning_beside_calls_is_found_without_the_analysis(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the analysis once was: a key that shows beside calls only was no reasoning for it."""
    lost = "a call is lost where 'plan' is given beside a call: "
    source = own_template("plan-beside-calls")
    assert not objections(built(source))
    monkeypatch.setattr(dialect, "_is_beside_call", lambda chat: False)
    build = built(source)
    assert spec_in(build).reasoning.field is None
    assert SANITY in failed(build)
    assert any(lost in found for found in objections(build))


def test_reasoning_under_a_switch_of_any_name_is_read() -> None:
    build = built(template("odd-switch"))
    assert failed(build) == set()
    spec = spec_in(build)
    reasoning = spec.reasoning
    assert (reasoning.field, reasoning.start, reasoning.end) == (
        "musings",
        "[musing]",
        "[/musing]",
    )
    assert spec.thinking.enabled.variables == {"chatty": True}
    found = coverage(build)
    merry = "line 8, message.mood == 'merry': rendered with mood = 'merry' beside content"
    assert (found.told, found.untaken) == ((), (merry,))


def test_a_text_whose_marks_stay_in_content_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the analysis once was: it looked for other keys without any switch."""
    monkeypatch.setattr(message_form, "find_other_field", lambda chat: None)
    build = built(template("odd-switch"))
    assert spec_in(build).reasoning.field is None
    assert failed(build) == set()
    told, *_ = coverage(build).told
    assert told.startswith("content holds \"[musing]\" where 'musings' is given beside content: ")


def test_what_nothing_reaches_is_told_with_the_reason() -> None:
    build = built(template("never-reached"))
    assert failed(build) == set()
    found = coverage(build)
    assert found.untaken == (
        "line 7, message.content|length > 9000: out of reach: it only raises an exception",
        "line 11, verbose: out of reach: constants decide",
        "line 14, message.content|length > 5000 and message.role == 'user': never rendered",
    )
    assert (found.branches, found.rendered, found.others) == (5, 2, 1)
    shown = run("analyze", WITNESS / "never-reached.jinja")
    assert shown.exit_code == 0
    assert f"never-reached: {found.untaken[2]}\n" in shown.stderr
    assert "out of reach" not in shown.stderr


def test_content_in_parts_is_rendered() -> None:
    found = coverage(built(template("parts-or-text")))
    assert (found.untaken, found.others) == ((), 0)
    assert found.rendered == found.branches > 0


def test_what_a_refused_template_would_render_is_told(worker: RenderWorker) -> None:
    (problem,) = analyze_template(template("content-in-parts"), worker).problems
    assert problem.message.endswith("; never rendered: line 5, part.kind == 'words'")


#: Beside words and thoughts, an answer may have deeds as parts of its content.
DEED_IN_CONTENT = """\
{% for m in messages %}<{{ m.role }}>{% if m.content is string %}{{ m.content }}{% else %}\
{% for part in m.content %}{% if part.type == 'thinking' %}<muse>{{ part.thinking }}</muse>\
{% elif part.type == 'words' %}{{ part.words }}\
{% elif part.type == 'deed' %}<do what="{{ part.what }}"></do>\
{% endif %}{% endfor %}{% endif %}</over>{% endfor %}\
{% if add_generation_prompt %}<assistant>{% endif %}"""


def test_a_block_of_content_that_is_read_as_its_text_is_told() -> None:
    (told,) = coverage(built(given_template(DEED_IN_CONTENT, "deed-in-content"))).told
    assert told.startswith('content holds "<do what=')
    assert "where content has a block of 'deed'" in told


RESULT_IN_ANSWER = """\
{% for m in messages %}<{{ m.role }}>{% if m.outcome %}<outcome>{{ m.outcome }}</outcome>\
{% endif %}{{ m.content }}{% if m.tool_calls %}{% for c in m.tool_calls %}<do>{"name": "\
{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}</do>{% endfor %}\
<outcome>{% else %}</over>{% endif %}{% endfor %}\
{% if add_generation_prompt %}<assistant>{% endif %}"""


def test_what_stands_behind_the_end_of_a_turn_is_nothing_that_a_model_writes() -> None:
    build = built(given_template(RESULT_IN_ANSWER))
    assert "<outcome>" in spec_in(build).turn.stop
    assert not [found for found in objections(build) if "outcome" in found]


OTHER_CALLS = """\
{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls %}\
{% if builtin and c.function.name in builtin %}<run>{{ c.function.name }}{% else %}\
<do>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}</do>\
{% endif %}{% endfor %}</over>{% endfor %}\
{% if add_generation_prompt %}<assistant>{% endif %}"""


def test_calls_that_a_setting_writes_otherwise_are_told() -> None:
    build = built(given_template(OTHER_CALLS))
    assert failed(build) == set()
    (told,) = coverage(build).told
    assert told.startswith("a call is lost with builtin = ['funqa', 'funqb', 'funqc']: ")


MARKED_CALLS = """\
{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls %}\
<do {{ c.function.name }}>{% for key, value in c.function.arguments.items() %}\
<with {{ key }}>{% if style == 'marked' %}<kind>{{ 'word' if value is string else 'other' }}</kind>\
{% endif %}{{ value if value is string else value | tojson }}</with>{% endfor %}</do>{% endfor %}\
</over>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"""


def test_arguments_that_a_setting_writes_otherwise_are_told() -> None:
    build = built(given_template(MARKED_CALLS))
    assert failed(build) == set()
    (told,) = coverage(build).told
    assert told.startswith("a call is read as another one with style = 'marked': ")


def test_thoughts_behind_content_are_read_and_never_stand_for_an_answer() -> None:
    build = built(template("thoughts-behind-content"))
    told = "reasoning is read from 'musings', which stands behind content"
    assert (failed(build), coverage(build).told) == (set(), (told,))
    spec = spec_in(build)
    assert spec.turn.order == (Part.CONTENT, Part.REASONING, Part.CALLS)
    message = load(spec).parse(
        'He says "yes"<musing>Does he?</musing></over>', prefill="<assistant>"
    )
    assert (message.content, message.reasoning_content) == ('He says "yes"', "Does he?")
    assert message.problems == []
    bound = bind_grammar(spec, GrammarRequest(response_schema={"type": "boolean"}))
    assert isinstance(bound, BoundGrammar)
    grammar = read_grammar(bound.grammar)
    assert isinstance(grammar, Grammar)
    allowed = Recognizer(grammar)
    assert allowed.accepts("true<musing>Sure.</musing></over>")
    assert not allowed.accepts("<musing>Sure.</musing></over>")


KINDS = """\
{% for m in messages %}<{{ m.role }}>{% if m.kind == 'aside' and m.said %}<aside>{{ m.said }}\
</aside>{% endif %}{{ m.content }}</over>{% endfor %}{% if add_generation_prompt %}<assistant>\
{% endif %}"""


def test_a_text_that_shows_only_beside_a_word_under_another_key_is_told() -> None:
    build = built(given_template(KINDS))
    assert failed(build) == set()
    told, *_ = coverage(build).told
    assert told.startswith("content holds \"<aside>\" with kind = 'aside' beside content: ")


TYPED_CALLS = """\
{% for m in messages %}<{{ m.role }}>{% if m.content is string %}{{ m.content }}{% else %}\
{% for part in m.content or [] %}{% if part.type == 'words' %}{{ part.text }}{% endif %}\
{% endfor %}{% endif %}{% for c in m.tool_calls or [] %}<do>{{ c.type }}<of>{{ c.function.name }}\
<with>{{ c.function.arguments | tojson }}</do>{% endfor %}</over>{% endfor %}\
{% if add_generation_prompt %}<assistant>{% endif %}"""


def test_a_kind_of_blocks_is_no_type_of_calls() -> None:
    build = built(given_template(TYPED_CALLS))
    assert (failed(build), coverage(build).told) == (set(), ())


CALLS_OF_TWO_TYPES = """\
{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}{% for c in m.tool_calls or [] %}\
{% if c.type == 'custom' %}<give>{{ c.custom.name }}<text>{{ c.custom.input }}</give>{% else %}\
<do>{{ c.function.name }}<with>{{ c.function.arguments | tojson }}</do>{% endif %}{% endfor %}\
</over>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"""


def test_calls_of_another_type_than_functions_are_told() -> None:
    build = built(given_template(CALLS_OF_TWO_TYPES))
    (told,) = coverage(build).told
    assert told.startswith("a call is lost with type = 'custom' beside a call: ")


CALLS_ON_TWO_LEVELS = """\
{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}{% for c in m.tool_calls or [] %}\
{% set f = c.function if c.function is defined else c %}<do>{{ f.name }}<with>\
{{ f.arguments | tojson }}</do>{% endfor %}</over>{% endfor %}\
{% if add_generation_prompt %}<assistant>{% endif %}"""


def test_calls_that_may_stand_on_either_level_are_rendered_on_both() -> None:
    build = built(given_template(CALLS_ON_TWO_LEVELS))
    told = [line for line in coverage(build).untaken if "never rendered" in line]
    assert (failed(build), told) == (set(), [])


def test_many_branches_that_nothing_reaches_are_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = Coverage(untaken=tuple(f"line {n}, a: never rendered" for n in range(8)))
    build = built(template("never-reached"))
    assert build.result is not None
    build = replace(build, result=replace(build.result, coverage=found))
    print_build(build, None, verbose=True)
    assert capsys.readouterr().err.count("a: never rendered\n") == 8
    print_build(build, None, verbose=False)
    shown = capsys.readouterr().err
    assert shown.count("a: never rendered\n") == 5
    assert "never-reached: 3 more branches: never rendered (--verbose names them)\n" in shown


def test_calls_of_tools_whose_names_the_template_looks_into_are_told() -> None:
    text = (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for call in m.tool_calls or [] %}"
        "<use at={{ 'shell' if call.function.name.startswith('run_') else 'any' }} "
        "{{ call.function.name }}>{{ call.function.arguments | tojson }}</use>{% endfor %}<:end:>"
        "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}"
    )
    build = built(given_template(text))
    assert failed(build) == set()
    (told,) = coverage(build).told
    assert told.startswith("calls of 'run_' are written otherwise: \"<use at=shell run_>")


#: Conditions on a call ``f`` under which it is written as code.
KNOWN_TOOLS = (
    "f.name == 'calculator'",
    "f.name in ['calculator', 'abacus']",
    "f.name == 'calculator' and 'sum' in f.arguments",
    "f.name == 'calculator' and f.arguments.sum is string",
)


@pytest.mark.parametrize("condition", KNOWN_TOOLS)
def test_calls_of_a_known_tool_whose_arguments_it_knows_too_are_told(condition: str) -> None:
    text = (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for call in m.tool_calls or [] %}{% set f = call.function %}"
        f"{{% if {condition} %}}<calc>{{{{ f.arguments['sum'] + '' }}}}</calc>{{% else %}}"
        "<use {{ f.name }}>{{ f.arguments | tojson }}</use>{% endif %}{% endfor %}<:end:>"
        "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}"
    )
    build = built(given_template(text))
    assert failed(build) == set()
    found = coverage(build)
    assert any("never rendered" in line for line in found.untaken)
    (told,) = (line for line in found.told if "written otherwise" in line)
    assert told.startswith("calls of 'calculator' are written otherwise: \"<calc>witqa")


@pytest.mark.parametrize("condition", ["'sum' in f.arguments", "f.arguments.sum is defined"])
def test_calls_with_an_argument_that_the_template_looks_for_are_told(condition: str) -> None:
    text = (
        "{% for m in messages %}<:{{ m.role }}:>{{ m.content or '' }}"
        "{% for call in m.tool_calls or [] %}{% set f = call.function %}"
        f"{{% if {condition} %}}<calc {{{{ f.name }}}}>{{{{ f.arguments['sum'] }}}}</calc>"
        "{% else %}<use {{ f.name }}>{{ f.arguments | tojson }}</use>{% endif %}{% endfor %}<:end:>"
        "{% endfor %}{% if add_generation_prompt %}<:assistant:>{% endif %}"
    )
    build = built(given_template(text))
    assert failed(build) == set()
    (told,) = (line for line in coverage(build).told if "written otherwise" in line)
    assert told.startswith("calls with 'sum' are written otherwise: \"<calc witqa>witqa")
