"""Headers that say what a message is, of which the prompt holds only the beginning, or nothing."""

from __future__ import annotations

import json

import pytest

from tests.test_right_formats import built, spec_alone, spec_in
from turnspec.codegen.loading import load
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest, ToolChoice
from turnspec.spec.turn_end import with_stop_at_end
from turnspec.spec.words import Part
from turnspec.verification.gbnf_reader import Grammar, read_grammar
from turnspec.verification.recognizer import Recognizer

_TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


def template(head: str, kinds: tuple[str, str, str], ends: tuple[str, str], prompt: str) -> str:
    """Return a template of messages that begin with ``head``, one of ``kinds`` and what closes it.

    ``ends`` are what closes a header, and what ends a message.
    """
    muse, say, call = kinds
    close, end = ends
    own = (
        f"{{% if m.reasoning %}}{head}bot{muse}{close}{{{{ m.reasoning }}}}{end}{{% endif %}}"
        f"{{% if m.content %}}{head}bot{say}{close}{{{{ m.content }}}}{end}{{% endif %}}"
        f"{{% for c in m.tool_calls or [] %}}{head}bot{call}{close}"
        f"{{{{ c.function.arguments | tojson }}}}{end}{{% endfor %}}<:over:>"
    )
    others = f"{head}{{{{ m.role }}}}{close}{{{{ m.content }}}}{end}"
    return (
        f"{{% for m in messages %}}{{% if m.role == 'assistant' %}}{own}{{% else %}}{others}"
        f"{{% endif %}}{{% endfor %}}{{% if add_generation_prompt %}}{{{{ {prompt!r} }}}}"
        f"{{% endif %}}"
    )


NAME = "{{ c.function.name }}"

#: What messages begin with, their kinds, what closes a header and a message, and the prompt.
FORMATS = {
    "a sign and a word": ("<:by:>", ("/muse", "/say", f"/use:{NAME}"), ("\n", "<:end:>\n"), True),
    "words": ("<:by:>", (" muses", " says", f" uses {NAME}"), ("\n", "\n"), True),
    "in a tag": ("<by ", (' to="self"', ' to="all"', f' to="{NAME}"'), (">", "\n"), True),
    "in a tag with nothing behind": ("<by ", (":self", ":all", f":at.{NAME}"), (">", ""), True),
    "one sign around it": ("§", (".muse", ".say", f".use.{NAME}"), ("§ ", "\n"), True),
    "nothing in the prompt": ("<:by:>", (":self", ":all", f":at.{NAME}"), ("\n", ""), False),
    "nothing in it and lines": (
        *("<:by:>", (" self", " all", f" at {NAME}"), ("<:/by:>\n", "\n"), False),
    ),
}


@pytest.mark.parametrize("title", FORMATS)
def test_a_header_of_which_the_prompt_holds_the_beginning_is_read(title: str) -> None:
    head, kinds, ends, is_prompted = FORMATS[title]
    prompt = f"{head}bot" if is_prompted else ""
    build = built(title.replace(" ", "-"), template(head, kinds, ends, prompt))
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values()), build.result
    spec, (close, end) = spec_in(build), ends
    said = [(kinds[0], "a > b"), (kinds[1], "1 < 2 > 0\n\n* so"), (kinds[2], '{"x": "y > z"}')]
    messages = (f"{head}bot{kind}{close}{text}{end}" for kind, text in said)
    text = "".join(messages).replace(NAME, "look").removeprefix(prompt) + "<:over:>"
    for pieces in ([text], list(text)):
        parser = load(spec).Parser(tools=[_TOOL])
        for piece in pieces:
            parser.feed(piece)
        parser.finish()
        message = parser.message
        assert (message.reasoning_content, message.content) == (said[0][1], said[1][1])
        assert [(c.name, json.loads(c.arguments)) for c in message.tool_calls] == [
            ("look", {"x": "y > z"})
        ]
        assert message.problems == []
    bound = bind_grammar(spec, GrammarRequest((_TOOL,), lazy=False))
    assert isinstance(bound, BoundGrammar)
    grammar = read_grammar(bound.grammar)
    assert isinstance(grammar, Grammar)
    assert Recognizer(grammar).accepts(text)


#: Where thinking is off the prompt writes the whole header of an answer.
OFF = (
    '"<:by:>bot/say\\n" if think is defined and not think else "<:by:>bot"',
    ("<:by:>", ("/muse", "/say", f"/use:{NAME}"), ("\n", "<:end:>\n")),
)


def test_a_prompt_that_begins_content_keeps_the_model_from_thinking() -> None:
    text = template(*OFF[1], "").replace("{{ '' }}", f"{{{{ {OFF[0]} }}}}")
    build = built("off-by-header", text)
    assert build.result is not None
    assert all(rung.is_passed for rung in build.result.rungs.values()), build.result
    spec = spec_in(build)
    assert spec.thinking.default.prompt == "<:by:>bot"
    assert spec.thinking.disabled.variables == {"think": False}
    assert spec.thinking.disabled.prompt == "<:by:>bot/say\n"
    choice = ToolChoice.REQUIRED
    found = bind_grammar(spec, GrammarRequest((_TOOL,), tool_choice=choice, thinking=False))
    assert isinstance(found, BoundGrammar)
    grammar = read_grammar(found.grammar)
    assert isinstance(grammar, Grammar)
    call = "/use:look\n{}<:end:>\n<:over:>"
    assert Recognizer(grammar).accepts(f"So.<:end:>\n<:by:>bot{call}")
    assert not Recognizer(grammar).accepts(call)  # as it would stand in the answer


#: Calls come before content, each part is a message, and no mark of its own ends the turn.
CALLS_FIRST = (
    "{% for m in messages %}{% if m.role == 'assistant' %}"
    "{% for c in m.tool_calls or [] %}<:by:>bot/use:{{ c.function.name }}\n"
    "{{ c.function.arguments | tojson }}<:end:>\n{% endfor %}"
    "{% if m.content %}<:by:>bot/say\n{{ m.content }}<:end:>\n{% endif %}"
    "{% else %}<:by:>{{ m.role }}\n{{ m.content }}<:end:>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<:by:>bot{% endif %}"
)


def test_the_line_end_behind_calls_stays_where_their_end_is_the_turns() -> None:
    spec = spec_alone("calls-first", CALLS_FIRST)
    joins = [join.text for join in with_stop_at_end(spec).turn.joins if join.left is Part.CALLS]
    assert joins == ["<:end:>\n<:by:>bot"]
    bound = bind_grammar(spec, GrammarRequest((_TOOL,), lazy=False))
    assert isinstance(bound, BoundGrammar)
    grammar = read_grammar(bound.grammar)
    assert isinstance(grammar, Grammar)
    assert Recognizer(grammar).accepts("/use:look\n{}<:end:>\n<:by:>bot/say\nSo.<:end:>\n")
