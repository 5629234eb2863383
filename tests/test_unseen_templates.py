"""Templates that the analysis had never seen when they were committed.

``unseen-*`` came through at first go, and no rule was made or changed for them; templates that
needed a mend are called ``invented-*``. Those in ``not-yet`` show what is still missing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.own_templates import FOLDER, NAMES, given_template, own_template, spec_of
from turnspec.pipeline.build import Build, build_template
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.conversation import tool_definitions
from turnspec.rendering.worker import RenderWorker
from turnspec.spec.files import load_checked_spec
from turnspec.spec.model import Spec
from turnspec.spec.results import RUNGS
from turnspec.spec.words import Verdict
from turnspec.testing import Call, Message, check_case

UNSEEN = tuple(name for name in NAMES if name.startswith("unseen-"))
MESSAGES = 50

#: What becomes of the templates in ``not-yet``: a problem, or the rungs that fail.
NOT_YET = {
    "columnar-batch": "0, 1",  # the calls of a turn can't be told apart
    "fields-in-capitals": "3",
    "name-after-tagged-arguments": "0, 1, 1b, 3",
    "parts-in-json": "1, 1b, 2, 3, sanity",
    "plan-before-calls": "3",  # reasoning that nothing ends, before calls alone
    "shell-session": (
        "reasoning.start: '# ' could stand in any text; "
        "parsers can't tell by it where reasoning begins"
    ),
}

_TWICE_NOW = (Call("now", {}), Call("now", {}))

#: What a model writes in formats that needed a mend, as a person wrote it down; and the message.
WRITTEN = [
    (
        "answer-alone",
        'Both.\n(:answer:)\nSo.(:use:){"name": "now", "arguments": {}}(:used:)(:over:)',
        Message("So.", "Both.", (Call("now", {}),)),
    ),
    ("answer-alone", "(:answer:)\nSo.(:over:)", Message("So.")),
    (
        "words-alone",
        'Musing: Both.\nDeed: add\nDeed input: {"a": 1}\nDeed: now\nDeed input: {}\n',
        Message(reasoning="Both.", calls=(Call("add", {"a": 1}), Call("now", {}))),
    ),
    ("words-alone", "My answer: So, my answer: no.\n", Message("So, my answer: no.")),
    (
        "preamble-channel",
        "<$via$>mind<$says$>Both.<$done$><$from$>bot<$via$>work<$says$>So.<$done$>"
        '<$from$>bot<$via$>work for tools.add <$as$>json<$says$>{"a": 1}<$run$>'
        "<$from$>bot<$via$>work for tools.now <$as$>json<$says$>{}<$run$>",
        Message("So.", "Both.", (Call("add", {"a": 1}), Call("now", {}))),
    ),
    (
        "response-behind-thought",
        "<think>So.</think>\n<response>A <b>.</response><|end|>",
        Message("A <b>.", "So."),
    ),
    ("response-behind-thought", "Both.<|end|>", Message("Both.")),
    (
        "list-of-members",
        'So.<~call~>{"tool": "add", "with": [{"key": "a", "value": "\\"["}, '
        '{"key": "b", "value": [1]}]}<~called~><~end~>',
        Message("So.", calls=(Call("add", {"a": '"[', "b": [1]}),)),
    ),
    (
        "arguments-in-string",
        'So.<~calls~>{"tool_calls": [{"id": "call_0", "function": {"name": "add", "arguments": '
        '"{\\"a\\": \\"\\\\\\"[\\\\n\\"}"}}]}<~/calls~><~end~>',
        Message("So.", calls=(Call("add", {"a": '"[\n'}),)),
    ),
    (
        "names-as-tags",
        "<think>\nIs 2 < 3, or a<b?\n</think>\n\nBoth: 1 < 2."
        "\n<add>\n  <a>\n\n1 </b>\n\n  </a>\n</add>\n<now>\n</now><|im_end|>\n",
        Message(
            "Both: 1 < 2.", "Is 2 < 3, or a<b?", (Call("add", {"a": "\n1 </b>\n"}), Call("now", {}))
        ),
    ),
    (
        "object-in-named-tag",
        'I <3 this: 1 < 2.\n<add>{"a": "</add>"}</add>\n<now>{}</now><|im_end|>\n',
        Message("I <3 this: 1 < 2.", calls=(Call("add", {"a": "</add>"}), Call("now", {}))),
    ),
    (
        "list-of-members",  # as a printer for people writes it
        '<~call~>{\n  "tool": "add",\n  "with": [\n    {\n      "key": "a",\n      "value": 1\n'
        "    }\n  ]\n}<~called~><~end~>",
        Message(calls=(Call("add", {"a": 1}),)),
    ),
    (
        "flat-members",
        'So.<~call~>{"tool": "add", "a": "\\"}", "b": {"c": [1]}}<~called~>'
        '<~call~>{\n  "tool": "add",\n  "a": 1\n}<~called~><~end~>',
        Message("So.", calls=(Call("add", {"a": '"}', "b": {"c": [1]}}), Call("add", {"a": 1}))),
    ),
    (
        "flat-members",
        '<~call~>{"tool": "now"}<~called~><~end~>',
        Message(calls=(Call("now", {}),)),
    ),
    (
        "prompt-with-tag",
        'Both.</muse>So.<use as="add"><with key="a">"<b>"</with><with key="b" read="json">2</with>'
        '<with key="c" read="json">[1]</with></use>(:over:)',
        Message("So.", "Both.", (Call("add", {"a": '"<b>"', "b": 2, "c": [1]}),)),
    ),
    ("prompt-with-tag", "</muse>So.(:over:)", Message("So.")),
    (
        "lone-sign",
        'Mail a@b.c.\n@add\n.a={"z": 1, "y": 2}\n.b="@"\n@end\n@now\n@end\n<|over|>\n',
        Message(
            "Mail a@b.c.", calls=(Call("add", {"a": {"z": 1, "y": 2}, "b": "@"}), Call("now", {}))
        ),
    ),
    ("lone-sign", "Ask @", Message("Ask @")),
    (
        "ruled-thought",
        "~~~think\nBoth.\n~~~\nSo:\n~~~\nx\n@@.\n",
        Message("So:\n~~~\nx", "Both."),
    ),
    (
        "triple-brackets",
        "(((\nBoth.\n)))\n\nSo [[1, 2], [3]].\n[[[add]]]\n[[a]]x]] [y[[/a]]\n[[[/add]]]"
        "\n[[[now]]]\n[[[/now]]]<eot>\n",
        Message("So [[1, 2], [3]].", "Both.", (Call("add", {"a": "x]] [y"}), Call("now", {}))),
    ),
    (
        "check-behind",
        'Both.<|check|>Right.<|/check|><|use|>{"ref": "u0", "tool": "add", "input": {"a": null}}'
        '<|/use|><|use|>{"ref": "u11", "tool": "now", "input": {}}<|/use|><|assistant_end|>\n',
        Message("Both.", "Right.", (Call("add", {"a": None}), Call("now", {}))),
    ),
    (
        "use-lines",
        '<<act>>\nuse: now\nuse: add\na: "use: x"\nb: {"use": [null]}\nuse: now\n'
        "<<acted>><<end>>\n",
        Message(
            calls=(
                Call("now", {}),
                Call("add", {"a": "use: x", "b": {"use": [None]}}),
                Call("now", {}),
            )
        ),
    ),
    (
        "use-lines",
        "Do use: a hammer, <<carefully>>.<<end>>\n",
        Message("Do use: a hammer, <<carefully>>."),
    ),
    (
        "entities",
        '<steps><step n="1" do="add"><in k="a" t="string">&lt;b> R&D &amp;amp;</in>'
        '<in k="b" t="array">["&lt;", 3]</in></step><step n="2" do="now"></step></steps></msg>\n',
        Message(calls=(Call("add", {"a": "<b> R&D &amp;", "b": ["<", 3]}), Call("now", {}))),
    ),
    ("entities", "<say>3 < 4 &amp; so on</say></msg>\n", Message("3 < 4 &amp; so on")),
    (
        "raw-lines",
        "Ok.<|tool_call|>add\na: b: c\n\n  d\n\nb: [1]\n<|/tool_call|>"
        "<|tool_call|>now\n<|/tool_call|><|end|>",
        Message("Ok.", calls=(Call("add", {"a": "b: c\n\n  d\n", "b": "[1]"}), Call("now", {}))),
    ),
    (
        "wrapped-members",
        '<|action|>[{"type": "use", "tool": {"name": "add", "input": {"a": {"tool": 1}}}, '
        '"id": "u1"}, {"type": "use", "tool": {"name": "now", "input": {}}, "id": "u2"}]'
        "<|/action|><|end|>",
        Message(calls=(Call("add", {"a": {"tool": 1}}, "u1"), Call("now", {}, "u2"))),
    ),
    ("question-opens", "Both.</think>So.<|over|>\n", Message("So.", "Both.")),
    (
        "ruled-thought",
        "~~~think\nA ~~ B.\n~~~\nSo @.\n@@.\n",
        Message("So @.", "A ~~ B."),
    ),
    (
        "envelope",
        '{"tool_calls":[{"name": "add", "arguments": {"a": []}},\n'
        '{"name": "now", "arguments": {}}]}<|end|>',
        Message(calls=(Call("add", {"a": []}), Call("now", {}))),
    ),
    ("envelope", '{"tool_calls": []} or [1]<|end|>', Message('{"tool_calls": []} or [1]')),
    (
        "lead-words",
        "Thought: A Thought.\nAnswer: So, Answer: 2. Thought: x<|end|>",
        Message("So, Answer: 2. Thought: x", "A Thought."),
    ),
    ("lead-words", "Answer: So.<|end|>", Message("So.")),
    (
        "mail-parts",
        "kind: thought\n\nBoth.<|next|>\nkind: reply\n\nA kind: thought<|next|>\n"
        'kind: call\ntool: add\nref: 0\n\n{"a": []}<|sent|>\n',
        Message("A kind: thought", "Both.", (Call("add", {"a": []}),)),
    ),
    (
        "requests",
        'Both.<<<final>>>So.<<<requests>>>{"requests": [{"payload": {"a": []}, "call_id": "k1", '
        '"target": {"kind": "function", "function": "add"}}, {"payload": {}, "call_id": "k2", '
        '"target": {"kind": "function", "function": "now"}}]}<<<done>>>\n',
        Message("So.", "Both.", (Call("add", {"a": []}, "k1"), Call("now", {}, "k2"))),
    ),
    (
        "named-parts",
        "/think\nBoth.<|shut|>\n<|open|>bot\nSo.<|shut|>\n<|open|>bot -> tools\n"
        '[{"name": "add", "arguments": {"a": []}}]<|shut|><|wait|>\n',
        Message("So.", "Both.", (Call("add", {"a": []}),)),
    ),
    ("cut-if-both", "<scratch>\nBoth.\n</scratch>\n\nSo.<|im_end|>", Message("So.", "Both.")),
    (
        "emoji",
        '💭Both ✅.💡So 💭 and 💡.\n🔧{"name": "add", "arguments": {"a": "🔧"}}✅<|end|>',
        Message("So 💭 and 💡.", "Both ✅.", (Call("add", {"a": "🔧"}),)),
    ),
    (
        "same-marks",
        '🧠Both.🧠\nSo 🧠 and 🧠.\n🔧 add {"a": "🧠"}\n🔧 now {}<|end|>',
        Message("So 🧠 and 🧠.", "Both.", (Call("add", {"a": "🧠"}), Call("now", {}))),
    ),
    ("triangles", "◁think▷Both.◁/think▷So ◁ it ▷.<|im_end|>", Message("So ◁ it ▷.", "Both.")),
    (
        "results-in-turn",
        '<|inner|>Both.<|/inner|>[1]<|tools|>[{"add": {"a": []}}, {"now": {}}]<|/tools|>',
        Message("[1]", "Both.", (Call("add", {"a": []}), Call("now", {}))),
    ),
    (
        "result-names-call",
        'So.<do>add{"a": 1}</do><do>now{}</do><answer>',
        Message("So.", calls=(Call("add", {"a": 1}), Call("now", {}))),
    ),
    (
        "typed-lines",
        "⟦musing⟧Both.⟦/musing⟧\n\n⟦call add no. k1⟧\na (text): «x»: «y»\nb (list): [2]\n⟦/call⟧"
        "\n⟦/assistant⟧\n",
        Message(reasoning="Both.", calls=(Call("add", {"a": "x»: «y", "b": [2]}, "k1"),)),
    ),
    (
        "varied-channels",
        "<|as|>musing<|is|>Both.<|stop|><|msg|>bot<|as|>errand<|is|>So.<|stop|>"
        '<|msg|>bot for=tools.add<|as|>errand json<|is|>{"a": []}<|call|>',
        Message("So.", "Both.", (Call("add", {"a": []}),)),
    ),
    ("varied-channels", "<|as|>reply<|is|>So.<|done|>", Message("So.")),
    ("only-in-parts", "<mull>Both.</mull>So.[/assistant]", Message("So.", "Both.")),
    ("no-header", "Both.</draft><FINAL>So.</FINAL></s>", Message("So.", "Both.")),
    (
        "printed-calls",
        "So.<use>{'name': 'add', 'arguments': {'a': \"it's\", 'b': [True, None]}}</use>"
        "<use>{'name': 'now', 'arguments': {}}</use><|end|>",
        Message("So.", calls=(Call("add", {"a": "it's", "b": [True, None]}), Call("now", {}))),
    ),
    (
        "message-per-call",
        "<muse>\nBoth.\n</muse>\n\n<|shut|>\n<|open|>errand add\n"
        '{"a": "<|open|>"}<|shut|>\n<|open|>errand now\n{}<|shut|>\n',
        Message("", "Both.", (Call("add", {"a": "<|open|>"}), Call("now", {}))),
    ),
    ("message-per-call", "So.<|shut|>\n", Message("So.")),
    (
        "parts-of-all",
        '<inner>Both.</inner>So.<|shut|>\n<|open|>errands\n{"do": "add", "with": {"a": []}}\n'
        '{"do": "now", "with": {}}\n<|shut|>\n',
        Message("So.", "Both.", (Call("add", {"a": []}), Call("now", {}))),
    ),
    (
        "ruled-rows",
        'So # it.<<rows>>\n# add #\n#---#\n# a # 7 #\n# bc # "#" #\n# d # [1] #\n\n'
        "# now #\n#---#\n\n# now #\n#---#\n<<rowed>><<end>>\n",
        Message("So # it.", calls=(Call("add", {"a": 7, "bc": "#", "d": [1]}), *_TWICE_NOW)),
    ),
    (
        "closing-word",
        '<<steps>>\nstep redo\n    a: true\n    odd: null\n    done: "done"\ndone\n'
        "step now\ndone\n<<stepped>><<end>>\n",
        Message(
            calls=(Call("redo", {"a": True, "odd": None, "done": "done"}), Call("now", {})),
        ),
    ),
    (
        "comment-counts",
        'So.<<deeds>>\n-- deed 1\n{"do": "add", "with": {"a": "-- deed 2"}}\n-- deed 2\n'
        '{"do": "now", "with": {}}\n<<done>><<end>>\n',
        Message("So.", calls=(Call("add", {"a": "-- deed 2"}), Call("now", {}))),
    ),
    (
        "words-in-section",
        "now (or later)<<ask>>{\n  now\n  now\n  add(a: 1, b: [])\n  now\n}<<asked>><<end>>\n",
        Message(
            "now (or later)",
            calls=(*_TWICE_NOW, Call("add", {"a": 1, "b": []}), Call("now", {})),
        ),
    ),
    (
        "lines-left-out",
        "* job: now\n<<jobs>>\n* job: now\n* job: add\n  with:\n    a: 1\n    bb: {}\n* job: now\n"
        "<<jobbed>><<end>>\n",
        Message(
            "* job: now", calls=(Call("now", {}), Call("add", {"a": 1, "bb": {}}), Call("now", {}))
        ),
    ),
    (
        "config-lines",
        '<<conf>>\n[add]\na = [true]\nb = {"c": [["d"]]}\ne = [now] x = 1\n'
        "[now]\n<<confed>><<end>>\n",
        Message(
            calls=(
                Call("add", {"a": "[true]", "b": '{"c": [["d"]]}', "e": "[now] x = 1"}),
                Call("now", {}),
            )
        ),
    ),
    (
        "colon-keys",
        'At 10:30: go.\n@@ add\n:a: {"b": 1, "c": {"d": 2}}\n:e: f: g :h: i @ j\n:over:'
        "\n@@ now\n:over:<<end>>\n",
        Message(
            "At 10:30: go.",
            calls=(
                Call("add", {"a": '{"b": 1, "c": {"d": 2}}', "e": "f: g :h: i @ j"}),
                Call("now", {}),
            ),
        ),
    ),
    (
        "percent-signs",
        'About 5 % & more.%add%a:7&b:true&c:-0.5&d:"%"&e:null%%%%now%%%%<<end>>\n',
        Message(
            "About 5 % & more.",
            calls=(
                Call("add", {"a": 7, "b": True, "c": -0.5, "d": "%", "e": None}),
                Call("now", {}),
            ),
        ),
    ),
    (
        "run-of-signs",
        'About ~5.~~add?a:7&b:"~~now?~~"~~~~now?~~~~add?a:null~~<<end>>\n',
        Message(
            "About ~5.",
            calls=(
                Call("add", {"a": 7, "b": "~~now?~~"}),
                Call("now", {}),
                Call("add", {"a": None}),
            ),
        ),
    ),
    (
        "doubled-quotes",
        "It's so.<<run>>EXEC add(a := 'it''s', b := '', c := ', d := ', e := ''' ''');\n"
        "EXEC now();<<ran>><<end>>\n",
        Message(
            "It's so.",
            calls=(
                Call("add", {"a": "it's", "b": "", "c": ", d := ", "e": "' '"}),
                Call("now", {}),
            ),
        ),
    ),
    ("filled-block", "Well, I know it.</muse>So.<|end|>", Message("So.")),
    (
        "filled-block",
        "Well, I know it. Not.</muse>So: Well, I know it. Yes.<|end|>",
        Message("So: Well, I know it. Yes.", "Well, I know it. Not."),
    ),
    (
        "fillers",
        '(no thoughts, just this.)\nSo: (no thoughts, just this.) Yes.<use>{"name": "now", '
        '"arguments": {}}</use><|end|>',
        Message("So: (no thoughts, just this.) Yes.", calls=(Call("now", {}),)),
    ),
]


def _build(path: Path) -> Build:
    source = given_template(path.read_text(encoding="utf-8"), path.stem)
    return build_template(source, OutputPaths.in_folder(path.stem), messages=MESSAGES)


def _spec(build: Build) -> Spec:
    found = load_checked_spec(build.files[OutputPaths.in_folder(build.name).spec], "the.yaml")
    assert isinstance(found, Spec)
    return found


def test_there_are_fifteen() -> None:
    assert len(UNSEEN) == 15


@pytest.mark.long  # `make test` climbs the ladder with a few kinds of templates
@pytest.mark.parametrize("name", UNSEEN)
def test_unseen_templates_pass_every_rung_and_leave_nothing_ambiguous(name: str) -> None:
    build = build_template(own_template(name), OutputPaths.in_folder(name), messages=MESSAGES)
    assert build.problems == ()
    assert build.result is not None
    found = {rung: (result.failed, result.example) for rung, result in build.result.rungs.items()}
    assert found == dict.fromkeys(RUNGS, (0, None))
    assert all(result.passed for result in build.result.rungs.values())
    verdicts = {limit.verdict for limit in _spec(build).limits}
    assert not verdicts & {Verdict.AMBIGUOUS, Verdict.DROPS}


@pytest.mark.parametrize(("name", "text", "expect"), WRITTEN, ids=[it[0] for it in WRITTEN])
def test_what_a_model_writes_in_a_mended_format(
    name: str, text: str, expect: Message, worker: RenderWorker
) -> None:
    check_case(spec_of(f"invented-{name}", worker), text, expect=expect)


def test_what_a_model_writes_where_more_is_known(worker: RenderWorker) -> None:
    spec = spec_of("invented-words-before-header", worker)
    text, answer = "Both.\n</mull>\nSo.</turn>", Message("So.", "Both.")
    check_case(spec, text, expect=answer, enable_thinking=True)
    spec = spec_of("invented-name-before-code", worker)
    text, call = 'add\n```python\ntool_call(a="b)", c=[1])\n```', Call("add", {"a": "b)", "c": [1]})
    tools = tool_definitions([call])
    check_case(spec, text, expect=Message(calls=(call,)), tools=tools)
    cut_off = Message(calls=(Call("add", {}),))
    check_case(spec, text[:24], expect=cut_off, tools=tools, problems=["cut_off"])


@pytest.mark.long
@pytest.mark.parametrize("path", sorted((FOLDER / "not-yet").glob("*.jinja")), ids=lambda p: p.stem)
def test_what_is_not_read_yet(path: Path) -> None:
    build = _build(path)
    if build.result is None:
        problems = "; ".join(str(problem) for problem in build.problems)
        assert problems == f"{path.stem}.jinja: {NOT_YET[path.stem]}"
        return
    failed = [rung for rung, result in build.result.rungs.items() if result.failed]
    assert ", ".join(failed) == NOT_YET[path.stem]
