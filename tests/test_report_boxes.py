"""What the boxes of the page do, in Node: texts in their parts, and links to cases.

The page itself, in a browser, is `make report-browser`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.generated_formats import FORMS, ROOT, committed_format, facts_of_format
from tests.typescript.toolchain import node
from turnspec.catalog.catalog import Catalog
from turnspec.catalog.finding import named_formats
from turnspec.catalog.names import PATTERNS
from turnspec.codegen.printer.shared import facts_given
from turnspec.codegen.typescript import SHARED_ENGINE, Script, script_engine
from turnspec.report.page import page_script
from turnspec.report.texts import texts_to_try
from turnspec.spec.naming import TEMPLATE_SUFFIX

TEMPLATES = ROOT / "generator/turnspec/report/templates"
Ask = Callable[..., Any]


def facts_for(name: str) -> dict[str, Any]:
    return facts_given(facts_of_format(name))


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """A function that asks the page's module, beside the engine, as it was written."""
    folder = tmp_path_factory.mktemp("page")
    engine = script_engine(Script.JAVASCRIPT)
    (folder / f"{SHARED_ENGINE}.mjs").write_text(engine, encoding="utf-8")
    for module in ("names.mjs", "reading.mjs"):
        shutil.copy(TEMPLATES / module, folder)
    driver = Path(__file__).parent / "typescript/page.mjs"
    with subprocess.Popen(
        [node(), str(driver), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:

        def answer(**asked: Any) -> Any:
            assert process.stdin
            assert process.stdout
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield answer


@pytest.mark.parametrize("name", FORMS)
def test_a_text_is_shown_in_its_parts(name: str, ask: Ask) -> None:
    """All of it, in order; what is content or reasoning is coloured so; the message is Python's."""
    form = committed_format(name)
    for text in texts_to_try(form.spec, form.module)[::5]:
        options = {"tools": list(text.tools), "prefill": text.prefill}
        found = ask(facts=facts_for(name), options=options, text=text.text, size=7)
        message = form.module.parse(text.text, **options)
        assert found["message"] == message.to_dict()
        assert [each["offset"] for each in found["problems"]] == [
            problem.offset for problem in message.problems
        ]
        assert "".join(part["text"] for part in found["parts"]) == text.text
        starts = [sum(len(part["text"]) for part in found["parts"][:at]) for at in range(3)]
        assert [part["at"] for part in found["parts"]][:3] == starts[: len(found["parts"])]
        assert {part["kind"] for part in found["parts"]}.isdisjoint({"unread", "waiting"})


QWEN = "qwen-qwen3-0-6b"
TURN = '<think>\nI 🦆.\n</think>\n\n<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>'


def test_what_was_read_is_told_from_what_was_not(ask: Ask) -> None:
    facts = facts_for(QWEN)
    found = ask(facts=facts, options={}, text=TURN, size=5, count=6)
    assert [(part["kind"], part["text"]) for part in found["parts"]] == [
        ("mark", "<think>\n"),
        ("reasoning", "I 🦆."),
        ("waiting", "\n</think>\n\n<tool_c"),
        ("unread", TURN.partition("<tool_c")[2]),
    ]
    assert not found["isOver"]
    assert found["lines"] == ['reasoning: "I"', 'reasoning: " 🦆."']
    read = ask(facts=facts, options={}, text=TURN, size=0)
    assert [(part["kind"], part["text"]) for part in read["parts"]][3:] == [
        ("call-mark", '<tool_call>\n{"name": "'),
        ("name", "look"),
        ("call-mark", '"'),
        ("arguments", ', "arguments": {}'),
        ("call-mark", "}"),
        ("mark", "\n</tool_call>"),
    ]
    assert read["lines"][1:] == [
        "call 0 starts: look (call_0)",
        'arguments of call 0: "{}"',
        "call 0 ends",
    ]


def test_no_sign_deceives_a_reader(ask: Ask) -> None:
    hidden = "\u202e\u2066\u200b\x9b\u2028\x00\x7f\u00a0\ue000\U000e0001"
    value = {"text": f"a \té{hidden}模型👍"}
    shown = ask(shown=json.dumps(value, ensure_ascii=False, indent=1))
    assert json.loads(shown) == value
    assert all(sign.isprintable() or sign == "\n" for sign in shown)
    assert "é" in shown
    assert "模型👍" in shown


def test_a_part_begins_anew_where_a_problem_is(ask: Ask) -> None:
    facts = facts_for(QWEN)
    text = '<tool_call>\n{"name": "look", "arguments": {"a": 1'
    found = ask(facts=facts, options={}, text=text, size=0)
    (problem,) = found["problems"]
    places = [part["at"] for part in found["parts"]]
    assert problem["offset"] in places or problem["offset"] == len(text)


@pytest.mark.parametrize(
    "state",
    [
        {"text": "It rains.\r\n<b>&?#%é🦆", "piece": 3},
        {"text": "half \ud83d of a character", "piece": 0, "upTo": 0, "thinking": False},
        {"text": "", "piece": 7, "tools": "[", "prefill": "<think>\n"},
    ],
)
def test_a_link_leads_to_its_case(state: dict[str, Any], ask: Ask) -> None:
    link = ask(name="qwen3-coder", state=state)
    assert link.startswith("#t-qwen3-coder?")
    assert link.isascii()
    assert ask(hash=link) == {"id": "t-qwen3-coder", "state": state}


def test_a_link_to_a_format_has_no_case(ask: Ask) -> None:
    assert ask(name="qwen3-coder", state=None) == "#t-qwen3-coder"
    assert ask(hash="#t-qwen3-coder") == {"id": "t-qwen3-coder", "state": None}
    assert ask(name="qwen3-coder", state={"text": "x" * 20_000}) is None


def test_a_link_may_say_anything(ask: Ask) -> None:
    """What isn't of the right type isn't taken; what is no link at all leads nowhere."""
    for wrong in ("%", "#t-a?%", "#t-a?{", "#t-a?%7B%22text%22", "#%ff"):
        assert ask(hash=wrong) == {"id": "", "state": None}
    odd = '{"text": 1, "tools": [], "thinking": "no", "other": "x", "__proto__": {"text": "y"}}'
    assert ask(hash=f"#t-a?{odd}") == {"id": "t-a", "state": {}}
    for nothing in ("null", "7", "[]", '"text"'):
        assert ask(hash=f"#t-a?{nothing}") == {"id": "t-a", "state": {}}


#: Names that people write, and what is none.
NAMES = (
    *("Qwen3-32B", "gpt-oss-20b", "unsloth/gpt-oss-20b-GGUF", "Qwen/Qwen3-Coder-30B-A3B-Instruct"),
    *(
        "Llama-4-Scout",
        "Llama-3.1_8B",
        "llama",
        "qwen",
        "qwen3-8",
        "8b",
        "Instruct",
        "gemma-3-27b-it",
    ),
    *(
        "Qwen3-Next-80B-A3B-Instruct",
        "DeepSeek-V3",
        "deepseek-v3.1",
        "xinference-qwen3-coder",
        "Phi",
    ),
    *("bartowski/Qwen_Qwen3-8B-GGUF:UD-Q4_K_XL", "Qwen3-8B-Q8_0", "QWEN3_CODER", "qwen/", "blorp"),
    *("mistralai/Mistral-Nemo-Instruct-2407", "Qwen/QwQ-32B", "a", "3", "3.", "/", "???", "<b>"),
)


def test_the_filter_finds_what_list_finds(ask: Ask) -> None:
    catalog = Catalog.around(ROOT)
    formats = [
        {
            "name": known.name,
            "file": known.template_file.removesuffix(TEMPLATE_SUFFIX),
            "aliases": known.aliases,
            "packager": known.packager,
        }
        for known in catalog
    ]
    found = ask(words=NAMES, formats=formats, patterns=PATTERNS)
    wanted = {name: sorted(named_formats(name, catalog)) for name in NAMES}
    assert dict(zip(NAMES, map(sorted, found), strict=True)) == wanted
    assert wanted["Qwen3-32B"] == ["qwen-qwen3-0-6b"]
    assert not any(wanted[name] for name in ("Llama-4-Scout", "blorp", "/", "???"))


@pytest.mark.parametrize("served", [False, True])
def test_engine_and_modules_of_the_page_are_one_module(served: bool, tmp_path: Path) -> None:
    """They share a scope, so that no name may be declared twice."""
    script = tmp_path / "page.mjs"
    script.write_text(page_script(served=served), encoding="utf-8")
    done = subprocess.run([node(), "--check", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
