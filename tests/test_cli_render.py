"""``turnspec render``: what it prints, and where, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.own_checkouts import new_checkout, regenerated
from tests.own_templates import FOLDER
from turnspec.cli.main import turnspec

HELLO = '[{"role": "user", "content": "Hello!"}]'
HELLO_PROMPT = "<|im_start|>user\nHello!<|im_end|>\n<|im_start|>assistant\n"
LOOK = {"name": "look", "parameters": {"type": "object", "properties": {}}}


def render(*arguments: object, given: str = HELLO) -> Result:
    command = ["render", *map(str, arguments)]
    return CliRunner().invoke(turnspec, command, input=given)


def test_a_prompt_is_printed_to_the_character() -> None:
    result = render("chatml")
    assert (result.exit_code, result.stdout, result.stderr) == (0, HELLO_PROMPT, "")


def test_messages_and_tools_from_files(tmp_path: Path) -> None:
    (tmp_path / "talk.json").write_text(HELLO, encoding="utf-8")
    (tmp_path / "tools.json").write_text(json.dumps([LOOK]), encoding="utf-8")
    result = render("chatml", tmp_path / "talk.json", "--tools", tmp_path / "tools.json")
    assert result.exit_code == 0
    assert '"name": "look"' in result.stdout


def test_a_whole_request() -> None:
    request = {"model": "m", "messages": json.loads(HELLO), "tools": [LOOK]}
    result = render("chatml", given=json.dumps(request))
    assert result.exit_code == 0
    assert '"name": "look"' in result.stdout


def test_json_holds_the_prefill_and_what_was_done() -> None:
    result = render("qwen3", "--no-thinking", "--var", "enable_thought=1", "--json")
    prefill = "<|im_start|>assistant\n<think>\n\n</think>\n\n"
    assert json.loads(result.stdout) == {
        "prompt": f"<|im_start|>user\nHello!<|im_end|>\n{prefill}",
        "prefill": prefill,
        "polyfills": [],
        "notes": ["the template reads no variable enable_thought; it reads enable_thinking"],
    }
    assert result.stderr == ""


def test_what_stands_in_is_told_on_standard_error() -> None:
    request = {"messages": json.loads(HELLO), "tools": [LOOK]}
    result = render(FOLDER / "plain-content.jinja", "--bos", "<s>", given=json.dumps(request))
    assert result.exit_code == 0
    assert result.stderr == "note: tools described in the system message\n"


@pytest.mark.parametrize(("value", "closed"), [("false", True), ("true", False), ("no", False)])
def test_variables_are_json_or_text(value: str, closed: bool) -> None:
    result = render("qwen3", "--var", f"enable_thinking={value}")
    assert ("</think>" in result.stdout) is closed


def test_a_message_is_continued_and_a_generation_prompt_left_out() -> None:
    begun = [*json.loads(HELLO), {"role": "assistant", "content": "Good "}]
    result = render("chatml", "--continue", given=json.dumps(begun))
    assert result.stdout == f"{HELLO_PROMPT}Good "
    result = render("chatml", "--no-generation-prompt")
    assert result.stdout == "<|im_start|>user\nHello!<|im_end|>\n"


def test_the_time_is_given(tmp_path: Path) -> None:
    template = tmp_path / "dated.jinja"
    template.write_text(
        "{{ strftime_now('%d.%m.%Y') }}{% for m in messages %}<{{ m.role }}>{{ m.content }}"
        "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}",
        encoding="utf-8",
    )
    result = render(template, "--now", "2031-05-06")
    assert result.stdout == "06.05.2031<user>Hello!<assistant>"


def test_increments_are_json_lines() -> None:
    result = render("chatml", "--increments")
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {"kept": 0, "text": "<|im_start|>user\nHello!<|im_end|>\n"},
        {"kept": 34, "text": "<|im_start|>assistant\n"},
    ]


def test_increments_say_what_is_dropped(tmp_path: Path) -> None:
    template = tmp_path / "last.jinja"
    template.write_text(
        "{% for m in messages %}{% if loop.last %}>{% endif %}<{{ m.role }}>{{ m.content }}."
        "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}",
        encoding="utf-8",
    )
    talk = [{"role": role, "content": "x"} for role in ("user", "assistant", "user")]
    result = render(template, "--increments", given=json.dumps(talk))
    steps = [json.loads(line) for line in result.stdout.splitlines()]
    assert "".join(step["text"] for step in steps) == "<user>x.<assistant>x.><user>x.<assistant>"


def test_a_grammar_of_answers(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text('{"type": "boolean"}', encoding="utf-8")
    result = render("chatml", "--grammar", tmp_path / "schema.json")
    assert result.exit_code == 0
    assert 'response ::= "true" | "false"' in result.stdout


def test_capabilities_need_no_messages() -> None:
    result = render(FOLDER / "channels.jinja", "--capabilities", given="not read")
    found = json.loads(result.stdout)
    assert found["channel"] == {"start": "<:channel:>answer<:text:>", "end": "<:end:>"}
    assert (found["tool_calls"], found["tools"]) == (True, False)
    assert found["polyfills"] == ["tools described in the system message"]


def test_no_messages_are_told_as_such() -> None:
    result = render("chatml", given=" \n")
    assert result.exit_code == 1
    assert result.stderr == "error: standard input: is empty, where JSON is wanted\n"


def test_a_template_of_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = new_checkout(tmp_path / "checkout")
    regenerated(root)
    monkeypatch.chdir(root / "specs")
    result = render("plain-content")
    assert result.exit_code == 0
    assert "Hello!" in result.stdout


def test_an_explicit_template(tmp_path: Path) -> None:
    source = FOLDER / "plain-content.jinja"
    assert render(source, "--template", "chatml").stdout == HELLO_PROMPT
    other = tmp_path / "other.jinja"
    other.write_text("{{ messages[0].content }}", encoding="utf-8")
    assert render(source, "--template", other, "--no-generation-prompt").stdout == "Hello!"


def test_tokens_are_given(tmp_path: Path) -> None:
    template = tmp_path / "tokens.jinja"
    template.write_text(
        "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}"
        "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}",
        encoding="utf-8",
    )
    result = render(template, "--bos", "[B]", "--eos", "[E]")
    assert (result.stdout, result.stderr) == ("[B]<user>Hello![E]<assistant>", "")
    assert "nobody names it; </s> stands in" in render(template, "--bos", "[B]").stderr


@pytest.mark.parametrize(
    ("arguments", "given", "error"),
    [
        (["chatml"], "[", "standard input: not JSON: Expecting value: line 1 column 2 (char 1)"),
        (["chatml"], "3", "standard input: is JSON, but of another kind than is wanted here"),
        (
            ["chatml"],
            "{}",
            "give a list of messages, or an object with messages and tools",
        ),
        (["chatml"], "[]", "messages: there are no messages"),
        (["chatml"], '[{"content": 3}]', "messages[0]: is no object with a role"),
        (
            ["chatml", "--template", "nowhere.jinja"],
            HELLO,
            "nowhere.jinja: there is no such file or folder",
        ),
        (
            ["chatml", "--continue"],
            HELLO,
            "messages[-1]: isn't an assistant's message behind another one, so it can't be "
            "continued",
        ),
    ],
)
def test_what_is_wrong_is_one_line(arguments: list[str], given: str, error: str) -> None:
    result = render(*arguments, given=given)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"error: {error}\n"


def test_nothing_goes_by_a_name() -> None:
    result = render("nothing-there", given=HELLO)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "error: no format is known as 'nothing-there'; turnspec list shows all that are\n"
    )


def test_wrong_usage() -> None:
    result = render("chatml", "--var", "enable_thinking")
    assert result.exit_code == 2
    assert "enable_thinking: write NAME=VALUE" in result.stderr


def test_analyze_says_what_a_template_takes(tmp_path: Path) -> None:
    arguments = ["analyze", str(FOLDER / "channels.jinja"), "--into", str(tmp_path)]
    result = CliRunner().invoke(turnspec, [*arguments, "--messages", "3"])
    assert (
        "channels: takes system messages, calls, several calls at once, tool results; lacks tools; "
        "content stands between '<:channel:>answer<:text:>' and '<:end:>'\n"
    ) in result.stdout
