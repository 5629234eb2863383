"""Templates that refuse messages without some key, or content that is a text, are analysed."""

from __future__ import annotations

import pytest

from tests.own_templates import analysis_of, given_template, own_template, spec_of
from turnspec.analysis.analyze import ASSUMED_TOKENS, analyze_template
from turnspec.analysis.findings import Derivation
from turnspec.analysis.insistence import find_insistence
from turnspec.chat import ChatError, ChatTemplate
from turnspec.codegen.loading import load
from turnspec.rendering.conversation import Chat
from turnspec.rendering.dialect import Dialect
from turnspec.rendering.worker import RenderWorker

#: What each is spoken to with.
INSISTENT = {
    "required-reasoning": Dialect(required_field="reasoning"),
    "user-in-one-block": Dialect(
        text_block={"tongue": "is", "type": "text"}, block_roles=("user",)
    ),
    "plain-content": Dialect(),
}
ANSWERED = [
    {"role": "user", "content": "Hello?"},
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": "And now?"},
]


@pytest.mark.parametrize("name", INSISTENT)
def test_what_a_template_insists_on(name: str, worker: RenderWorker) -> None:
    chat = Chat(worker, own_template(name).text, ASSUMED_TOKENS)
    assert find_insistence(chat, Derivation()) == INSISTENT[name]


ALL_ROLES = ("user", "assistant", "system", "tool")
#: Templates that want something of every message, by what stands for its text in them.
OF_ALL_ROLES = {
    "{% for it in m.content %}{% if it.type == 'text' %}{{ it.text }}{% endif %}{% endfor %}": (
        Dialect(text_block={"type": "text"}, block_roles=ALL_ROLES)
    ),
    "{{ m.content.said }}": Dialect(text_key="said", block_roles=ALL_ROLES),
    "{{ m.content if m.by is defined else raise_exception('Who?') }}": (
        Dialect(required_field="by", required_roles=ALL_ROLES)
    ),
}


@pytest.mark.parametrize("text", OF_ALL_ROLES)
def test_all_roles_may_have_to_say_something_in_a_form_of_its_own(
    text: str, worker: RenderWorker
) -> None:
    source = f"{{% for m in messages %}}[{{{{ m.role }}}}]{text}[.]{{% endfor %}}"
    source += "{% if add_generation_prompt %}[assistant]{% endif %}"
    wanted = OF_ALL_ROLES[text]
    assert find_insistence(Chat(worker, source, ASSUMED_TOKENS), Derivation()) == wanted
    spec = analyze_template(given_template(source), worker).spec
    assert spec is not None
    assert (spec.turn.header, spec.turn.stop) == ("[assistant]", ("[.]",))
    with ChatTemplate.of_text(source) as chat:
        prompt = chat.render(ANSWERED).text
    assert prompt == "[user]Hello?[.][assistant]Hello.[.][user]And now?[.][assistant]"


def test_a_key_that_may_not_be_empty_is_filled_but_not_made_up_in_prompts(
    worker: RenderWorker,
) -> None:
    source = "{% for m in messages %}{% if not m.by %}{{ raise_exception('Who?') }}{% endif %}"
    source += "[{{ m.role }}]{{ m.content }}[.]{% endfor %}"
    source += "{% if add_generation_prompt %}[assistant]{% endif %}"
    wanted = Dialect(required_field="by", required_roles=ALL_ROLES, required_filled=True)
    assert find_insistence(Chat(worker, source, ASSUMED_TOKENS), Derivation()) == wanted
    analysis = analyze_template(given_template(source), worker)
    assert analysis.spec is not None
    assert (analysis.spec.turn.header, analysis.problems) == ("[assistant]", ())
    with ChatTemplate.of_text(source) as chat:
        assert chat.render([{"by": "me", **one} for one in ANSWERED]).text.endswith("[assistant]")
        with pytest.raises(ChatError, match=r"Who\?"):
            chat.render(ANSWERED)


def test_a_key_that_is_required_is_given_in_prompts() -> None:
    with ChatTemplate.of_text(own_template("required-reasoning").text) as chat:
        prompt = chat.render(ANSWERED).text
    assert "{@assistant@}\n{@muse@}\n{@/muse@}Hello.{@over@}" in prompt


def test_what_only_a_user_knows_is_not_made_up_in_prompts() -> None:
    said = "A user says one thing, as a list of one mapping"
    source = own_template("user-in-one-block").text
    with ChatTemplate.of_text(source) as chat, pytest.raises(ChatError, match=said):
        chat.render(ANSWERED)


def test_reasoning_that_is_read_from_another_key_has_marks_of_its_own(
    worker: RenderWorker,
) -> None:
    spec = spec_of("required-reasoning", worker)
    assert [(str(m.start[0]), m.end) for m in spec.alternatives.marks] == [
        ("Literal(text='{@hunch@}\\n')", "{@/hunch@}")
    ]
    # A prompt that opens these is no way to turn thinking off.
    assert spec.thinking.disabled == spec.thinking.default
    message = load(spec).parse("quick{@/hunch@}Hi.{@over@}", prefill="{@assistant@}\n{@hunch@}\n")
    assert (message.reasoning_content, message.content) == ("quick", "Hi.")
    assert message.problems == []


def test_an_end_that_stands_inside_of_turns_is_told_by_the_next_header(
    worker: RenderWorker,
) -> None:
    """A tool's header isn't: it has the tool's name."""
    analysis = analysis_of("end-between-calls", worker)
    assert analysis.spec is not None
    assert analysis.spec.turn.stop == ("<:return>", "<:call>", "<:end><:user>")


def test_a_block_may_have_to_say_a_language_that_no_table_names(worker: RenderWorker) -> None:
    source = "{% for m in messages %}[{{ m.role }}]{% if m.role == 'user' %}"
    source += "{% set it = m.content[0] %}{% if 'tongue' not in it %}"
    source += "{{ raise_exception('Which?') }}{% endif %}{{ it.tongue + ':' + it.text }}"
    source += "{% else %}{{ m.content }}{% endif %}[.]{% endfor %}"
    wanted = Dialect(text_block={"tongue": "en", "type": "text"}, block_roles=("user",))
    assert find_insistence(Chat(worker, source, ASSUMED_TOKENS), Derivation()) == wanted


@pytest.mark.parametrize(
    "lead",
    [
        "{% if messages[0].role != 'system' %}{{ raise_exception('Who am I?') }}{% endif %}",
        "{% set rule = messages | selectattr('role', 'equalto', 'system') | first %}"
        "{{ rule.content | trim }}",
    ],
)
def test_a_system_message_may_have_to_come_first(lead: str, worker: RenderWorker) -> None:
    source = (
        f"{lead}{{% for m in messages %}}[{{{{ m.role }}}}]{{{{ m.content }}}}[.]{{% endfor %}}"
    )
    source += "{% if add_generation_prompt %}[assistant]{% endif %}"
    found = find_insistence(Chat(worker, source, ASSUMED_TOKENS), Derivation())
    assert found == Dialect(needs_system=True)
    spec = analyze_template(given_template(source), worker).spec
    assert spec is not None
    assert (spec.turn.header, spec.turn.stop) == ("[assistant]", ("[.]",))
    assert spec.capabilities.system_role
