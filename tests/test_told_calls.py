"""What a prompt asks for otherwise than the template renders it is a limit of the spec."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.generated_formats import ROOT
from tests.own_templates import given_template, own_template
from turnspec.analysis.analyze import analyze_template
from turnspec.analysis.source import TemplateSource
from turnspec.cli.output import print_build
from turnspec.codegen.loading import load
from turnspec.pipeline.build import build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.files import load_spec
from turnspec.spec.fingerprint import fingerprint
from turnspec.spec.model import Limit, Spec
from turnspec.spec.overlay import OverlayText
from turnspec.spec.words import Condition, Subject, Verdict

PATHS = OutputPaths.in_folder("given")
RENDERED = '<go>{{ {"name": c.function.name, "arguments": c.function.arguments} | tojson }}</go>'
AS_RENDERED = '<go>{"name": "f", "arguments": {"k": 1}}</go>'
OTHERWISE = 'act[{"name": [function name], "arguments": [arguments as JSON]}, ...]'


def talking(told: str) -> str:
    """Return a template that renders calls in tags, and tells of them as it is given."""
    return (
        "{% if tools %}[system]You have {{ tools | tojson }}. " + told + "[/]{% endif %}"
        "{% for m in messages %}[{{ m.role }}]{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}"
        + RENDERED
        + "{% endfor %}[/]{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
    )


def quoted(text: str) -> str:
    return "{{ " + repr(text) + " }}"


def spec_of(source: TemplateSource, worker: RenderWorker) -> Spec:
    build = build_template(source, PATHS, worker=worker)
    assert build.problems == ()
    spec = load_spec(build.files[PATHS.spec], PATHS.spec)
    assert isinstance(spec, Spec)
    return spec


def told(spec: Spec) -> dict[Subject, str]:
    return {lim.subject: lim.reason for lim in spec.limits if lim.verdict is Verdict.TOLD}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Use them.", {}),
        (quoted(f"Call as in {AS_RENDERED}."), {}),
        # What lacks but the marks around it is no other way.
        (quoted('Call as in {"name": "f", "arguments": {"k": 1}}.'), {}),
        # Which key is the name's isn't told.
        (quoted('Call as in <go>{"arguments": <args-dict>, "name": <its-name>}</go>.'), {}),
        (quoted(f"Call as in {OTHERWISE}."), {Subject.CALLS: "tools"}),
        (
            "{% if style == 'b' %}" + quoted(f"Call as in {OTHERWISE}.") + "{% endif %}",
            {Subject.CALLS: 'tools and style="b"'},
        ),
    ],
    ids=[
        *("nothing", "the same", "a part of it", "placeholders"),
        *("another way", "another way in a setting"),
    ],
)
def test_what_is_told_of_calls(
    words: str, expected: dict[Subject, str], worker: RenderWorker
) -> None:
    found = told(spec_of(given_template(talking(words)), worker))
    call = r'"act[{\"name\": \"look_up\", \"arguments\": {\"city\": \"Paris\"}}]"'
    assert found == {
        subject: f"with {setting} the prompt may be taken to ask for {call}"
        for subject, setting in expected.items()
    }


def test_calls_that_are_only_told_of(worker: RenderWorker) -> None:
    assert set(told(spec_of(own_template("calls-only-described"), worker))) == {Subject.CALLS}


def test_it_is_no_part_of_the_format(worker: RenderWorker) -> None:
    spec = spec_of(given_template(talking("Use them.")), worker)
    limit = Limit(Subject.CALLS, Verdict.TOLD, Condition.ALWAYS, "so")
    assert fingerprint(replace(spec, limits=(*spec.limits, limit))) == fingerprint(spec)


def test_analyze_warns(
    worker: RenderWorker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = given_template(talking(quoted(f"Call as in {OTHERWISE}.")))
    print_build(build_template(source, PATHS, worker=worker), tmp_path, verbose=False)
    assert (
        "given: calls (told): with tools the prompt may be taken to ask for "
        in capsys.readouterr().err
    )


def test_with_an_overlay_it_is_read(worker: RenderWorker) -> None:
    """Phi-4-mini's prompt asks for a list behind a word, and its template renders objects."""
    name = "microsoft-phi-4-mini-instruct"
    overlay = ROOT / "templates" / "overlays" / f"{name}.yaml"
    template = ROOT / "templates" / "fetched" / "microsoft-Phi-4-mini-instruct.jinja"
    bare = TemplateSource(name, template.read_text(encoding="utf-8"), template.name, "local", {})
    given = OverlayText(overlay.name, overlay.read_text(encoding="utf-8"))
    source = replace(bare, overlay=given)
    assert set(told(spec_of(bare, worker))) == {Subject.CALLS}
    assert told(spec_of(source, worker)) == {}
    spec = analyze_template(source, worker).spec
    assert spec is not None
    call = '{"name": "look", "arguments": {"city": "Paris"}}'
    message = load(spec).parse(f"functools[{call}, {call}]<|end|>")
    assert [c.arguments for c in message.tool_calls] == ['{"city": "Paris"}'] * 2
    assert (message.content, message.problems) == ("", [])


def test_a_message_that_lists_tools_as_json_is_no_call(worker: RenderWorker) -> None:
    """Its marks stand before all messages, with a word for the role behind the first."""
    listed = "{% if tools %}<:say:>tools_as_json{{ '\n' }}{{ tools | tojson }}<:over:>{% endif %}"
    text = (
        listed + "{% for m in messages %}<:say:>{{ m.role }}{{ '\n' }}{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}" + RENDERED + "{% endfor %}<:over:>{% endfor %}"
        "{% if add_generation_prompt %}<:say:>assistant{{ '\n' }}{% endif %}"
    )
    assert told(spec_of(given_template(text), worker)) == {}
