"""What the engine reads in the formats of `tests.small_formats`."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from tests.parser_checks import added_up, stream, summary
from tests.small_formats import FORMATS
from turnspec.codegen.format_module import FormatModule
from turnspec.spec.model import Reasoning

#: format, text; content, reasoning, calls with their arguments, kinds of problems
Case = tuple[str, str, str, str, list[tuple[str, Any]], list[str]]

TOOLS = [
    {
        "name": "add",
        "parameters": {
            "properties": {
                "a": {"type": "integer"},
                "b": {"type": "string"},
                "c": {"type": "array", "items": {"type": "integer"}},
                "o": {"type": "object"},
            }
        },
    }
]

CASES: dict[str, Case] = {
    "a line that begins with a tool's name": (
        "named lines",
        'So\n  add {"a": 1}\nadd{}<end>',
        "So",
        "",
        [("add", {"a": 1}), ("add", {})],
        [],
    ),
    "a turn that begins with a tool's name": (
        "named lines",
        '<why>add{"a": 1} or sub{}</why>\nadd{"a": 2}<end>',
        "",
        'add{"a": 1} or sub{}',
        [("add", {"a": 2})],
        ["draft"],
    ),
    "a fence that opens begins as one that closes": (
        "fences",
        '```py```\n```do\n{"do": "add", "with": {}}\n```\n```do {"do": "now", "with": {}}```<end>',
        "```py```",
        "",
        [("add", {}), ("now", {})],
        ["unknown_tool"],
    ),
    "a tool's name in prose": (
        "named lines",
        'Use add{"a": 1},\nsub{"a": 1}\nadd {it}\nadd\n{}',
        'Use add{"a": 1},\nsub{"a": 1}\nadd {it}',
        "",
        [("add", {})],
        [],
    ),
    "a line of values that begins with a tool's name": (
        "named lines of values",
        "add (this)\nadd(a=1, b='x')\nadd()<end>",
        "add (this)",
        "",
        [("add", {"a": 1, "b": "x"}), ("add", {})],
        [],
    ),
    "lines that begin with a key": (
        "keyed lines",
        "<call add>\na (j): 1\nb (s): two\nthree\nc (j): [4]\n</call><end>",
        "",
        "",
        [("add", {"a": 1, "b": " two\nthree", "c": [4]})],
        [],
    ),
    "tokens at the edges of a turn": ("tokens", "<s> Hi!</s>", "Hi!", "", [], ["stray_marker"]),
    "tokens at the edges of parts": (
        "tokens",
        "<why><s>x<pad></why><pad>Hi <pad><call add>{}</call><pad></s>",
        "Hi",
        "x",
        [("add", {})],
        ["stray_marker"] * 5,
    ),
    "tokens within a text": (
        "tokens",
        "Write '</s>' behind, and <s> before it.",
        "Write '</s>' behind, and <s> before it.",
        "",
        [],
        ["stray_marker"] * 2,
    ),
    "a token that is text at the end of a word": (
        "tokens",
        "one<pad>two",
        "one<pad>two",
        "",
        [],
        ["stray_marker"],
    ),
    "a token after which a model runs on": (
        "tokens",
        "Hi!</s>User: so?",
        "Hi!",
        "",
        [],
        ["text_after_end"],
    ),
    "a quotation, and a token that ends it all": (
        "tokens",
        'It says "so" </s>\n',
        'It says "so"',
        "",
        [],
        [],
    ),
    "other marks of content": ("tokens", "[a]Hi![/a]<end>", "Hi!", "", [], []),
    "other marks in quotes": (
        "tokens",
        "Put it between '[a]' and `[/a]` then.",
        "Put it between '[a]' and `[/a]` then.",
        "",
        [],
        ["stray_marker"] * 2,
    ),
    "an object behind a token": (
        "bare tokens",
        '<s>{"do": "add", "with": {}}</s>',
        "",
        "",
        [("add", {})],
        ["stray_marker"],
    ),
    "an id that holds a tool's name": (
        "ids",
        '<call fn.add:0>{"a": 1}</call><call add>{}</call>',
        "",
        "",
        [("add", {"a": 1}), ("add", {})],
        [],
    ),
    "an id that holds no tool's name": (
        "ids",
        '<call fn.adder:0>{"a": 1}</call>',
        "",
        "",
        [("fn.adder:0", {"a": 1})],
        ["unknown_tool"],
    ),
    "content alone": ("text", "Hello!<end>", "Hello!", "", [], []),
    "reasoning, then content": ("text", "<why>x</why>\nHi<end>", "Hi", "x", [], []),
    "white space inside content": ("text", "a\n\n b <end>", "a\n\n b", "", [], []),
    "a marker in quotes": ("text", "Write '<why>' there.", "Write '<why>' there.", "", [], []),
    "a beginning that is none": ("text", "a <wh b", "a <wh b", "", [], []),
    "reasoning that isn't closed": ("text", "<why>x", "", "x", [], ["unclosed"]),
    "a close too many": ("text", "a</why>b", "ab", "", [], ["stray_marker"]),
    "text after the end": ("text", "a<end>b", "a", "", [], ["text_after_end"]),
    "an object": (
        "objects",
        'Hm.<call>{"do": "add", "with": {"a": 1}}</call><end>',
        "Hm.",
        "",
        [("add", {"a": 1})],
        [],
    ),
    "members in another order": (
        "objects",
        '<call>{"with": {"a": 1}, "do": "add"}</call>',
        "",
        "",
        [("add", {"a": 1})],
        ["order"],
    ),
    "an object without a name": (
        "objects",
        '<call>{"x": 1}</call>',
        '<call>{"x": 1}</call>',
        "",
        [],
        ["no_name"],
    ),
    "a marker between objects": (
        "separated",
        '<calls>{"do": "add", "with": {}} <next>\n{"do": "add", "with": {}}</calls><end>',
        "",
        "",
        [("add", {}), ("add", {})],
        [],
    ),
    "a call that is quoted": ("objects", "Use <call> tags.", "Use <call> tags.", "", [], []),
    "an object nobody announces": (
        "bare",
        '{"do": "add", "with": {}, "as": "x1"}',
        "",
        "",
        [("add", {})],
        [],
    ),
    "other JSON": ("bare", '{"answer": 1}', '{"answer": 1}', "", [], []),
    "a head with JSON": (
        "json",
        '<call add>{"a": [1, {"b": "\\u00e9"}]}</call>',
        "",
        "",
        [("add", {"a": [1, {"b": "é"}]})],
        [],
    ),
    "an argument string": (
        "json",
        '<call add>"{}"</call>',
        "",
        "",
        [("add", {})],
        ["string_arguments"],
    ),
    "a call that is cut off": (
        "json",
        '<call add>{"a": "x',
        "",
        "",
        [("add", {"a": "x"})],
        ["cut_off"],
    ),
    "an unknown tool": ("json", "<call sub>{}</call>", "", "", [("sub", {})], ["unknown_tool"]),
    "an id behind the arguments": ("tail", "<call add>{} #7</call>", "", "", [("add", {})], []),
    "Python's literals": (
        "python",
        "<call>add(a=1, b='it\\'s', c=[True, None])</call>",
        "",
        "",
        [("add", {"a": 1, "b": "it's", "c": [True, None]})],
        [],
    ),
    "text by its schema": (
        "tags",
        "<call add><a>3</a><b>3</b></call>",
        "",
        "",
        [("add", {"a": 3, "b": "3"})],
        [],
    ),
    "a value of the wrong type": (
        "tags",
        "<call add><a>three</a></call>",
        "",
        "",
        [("add", {"a": "three"})],
        ["wrong_type"],
    ),
    "a value that isn't closed": (
        "tags",
        "<call add><b>x</call>",
        "",
        "",
        [("add", {"b": "x"})],
        ["missing_marker"],
    ),
    "elements": (
        "elements",
        "<call add><c><item>1</item><item>2</item></c></call>",
        "",
        "",
        [("add", {"c": [1, 2]})],
        [],
    ),
    "an array": (
        "array",
        "<call add><arg c><e>1</e>\n<e>2</e></arg><arg b><e>x</e></arg></call>",
        "",
        "",
        [("add", {"c": [1, 2], "b": "<e>x</e>"})],
        [],
    ),
    "an element that isn't closed": (
        "array",
        "<call add><arg c><e>1</e><e>2</arg><arg b>x</arg></call>",
        "",
        "",
        [("add", {"c": [1, 2], "b": "x"})],
        ["missing_marker"],
    ),
    "an array that isn't closed": (
        "array",
        "<call add><arg c><e>1</e><arg b>x</arg></call>",
        "",
        "",
        [("add", {"c": [1], "b": "x"})],
        ["missing_marker"],
    ),
    "an array that the call closes": (
        "array",
        "<call add><arg c><e>1</e><e>2</call>",
        "",
        "",
        [("add", {"c": [1, 2]})],
        ["missing_marker"],
    ),
    "a call at the end of reasoning": (
        "thoughts",
        '<why>x <call>add<with>{"a": 1}</call>\n<call>add<with>{}</call><end>',
        "",
        "x",
        [("add", {"a": 1}), ("add", {})],
        ["unclosed"],
    ),
    "a call in reasoning that goes on": (
        "thoughts",
        '<why>x <call>add<with>{"a": 1}</call> y <call>add<with>{}</call></why>Hi',
        "Hi",
        'x <call>add<with>{"a": 1}</call> y <call>add<with>{}</call>',
        [],
        ["draft", "draft"],
    ),
    "a draft of a call, and the call": (
        "thoughts",
        '<why><call>add<with>{"a": 1}</call> No: <call>add<with>{"a": 2}</call><end>',
        "",
        '<call>add<with>{"a": 1}</call> No:',
        [("add", {"a": 2})],
        ["draft", "unclosed"],
    ),
    "a close in reasoning": (
        "thoughts",
        "<why>not </call> here</why>Hi",
        "Hi",
        "not </call> here",
        [],
        ["stray_marker"],
    ),
    "reasoning opened without its word": (
        "thoughts",
        "<|w>x</why>Hi",
        "Hi",
        "x",
        [],
        ["missing_marker"],
    ),
    "a head without its last marker": (
        "thoughts",
        '<call>add{"a": 1}</call>',
        "",
        "",
        [("add", {"a": 1})],
        ["missing_marker"],
    ),
    "a head and no arguments": (
        "thoughts",
        "<call>add</call>",
        "",
        "",
        [("add", {})],
        ["missing_marker", "no_arguments"],
    ),
    "code instead of JSON": (
        "json",
        '<call python>print("hi")</call>',
        "",
        "",
        [("python", {"code": 'print("hi")'})],
        ["unknown_tool", "malformed"],
    ),
    "a word instead of JSON": (
        "json",
        "<call add>nonsense</call>",
        "",
        "",
        [("add", "nonsense")],
        ["malformed"],
    ),
    "a string that isn't closed": (
        "json",
        '<call add>{"b": "x</call>\n<call add>{"a": 1}</call><end>',
        "",
        "",
        [("add", {"b": "x"}), ("add", {"a": 1})],
        ["malformed"],
    ),
    "a string that quotes the format": (
        "json",
        '<call add>{"b": "x</call>\\n<call add>{\\"a\\": 1}</call><end>"}</call>',
        "",
        "",
        [("add", {"b": 'x</call>\n<call add>{"a": 1}</call><end>'})],
        [],
    ),
    "an empty section": ("opened", "Hm. <calls></calls>", "Hm.", "", [], []),
    "a section with noise": (
        "opened",
        '<calls>so <call "add"><k>b</k><v>x</v></call></calls>',
        "",
        "",
        [("add", {"b": "x"})],
        ["unexpected_text"],
    ),
    "values without their opening tags": (
        "opened",
        '<calls><call "add"><k>b</k>x</v><k>a</k>\n1</v></call></calls>',
        "",
        "",
        [("add", {"b": "x", "a": 1})],
        ["missing_marker", "missing_marker"],
    ),
    "a value closed by the next argument": (
        "opened",
        '<calls><call "add"><k>b</k><v>x<k>a</k><v>1</v></call></calls>',
        "",
        "",
        [("add", {"b": "x", "a": 1})],
        ["missing_marker"],
    ),
    "an argument inside a value": (
        "opened",
        '<calls><call "add"><k>b</k><v>x<k>b</k><v>1</v></call></calls>',
        "",
        "",
        [("add", {"b": "x<k>b</k><v>1"})],
        [],
    ),
    "a JSON object instead": (
        "opened",
        '<calls>{"name": "add", "arguments": {"a": 1}}</calls>',
        "",
        "",
        [("add", {"a": 1})],
        ["other_syntax"],
    ),
    "tags instead of an object": (
        "objects",
        "<call><f=add><p=a>1</p>\n<p=b>x</p></f></call>",
        "",
        "",
        [("add", {"a": 1, "b": "x"})],
        ["other_syntax"],
    ),
    "tags with the word name": (
        "objects",
        '<call><f name="add"><p name="b">x\n</p></f></call>.',
        ".",
        "",
        [("add", {"b": "x"})],
        ["other_syntax", "misplaced"],
    ),
    "tags that are no call": (
        "objects",
        "<call><f=add>and so on</call>.",
        "<call><f=add>and so on</call>.",
        "",
        [],
        [],
    ),
    "keys of APIs": (
        "objects",
        '<call>{"name": "add", "arguments": {"a": 1}}</call>',
        "",
        "",
        [("add", {"a": 1})],
        ["other_syntax", "other_syntax"],
    ),
    "a text without quotes": (
        "python",
        "<call>add(b=one, (or) two: three, a=1)</call>",
        "",
        "",
        [("add", {"b": "one, (or) two: three", "a": 1})],
        ["malformed"],
    ),
    "an escape of JSON in an object, and none in a literal": (
        "python",
        r"""<call>add(b={"x\/": ["1\/2", "\\/", '\/']}, c="\/", a=1)</call>""",
        "",
        "",
        [("add", {"b": {"x/": ["1/2", r"\/", r"\/"]}, "c": r"\/", "a": 1})],
        [],
    ),
    "halves of a character, as escapes": (
        "python",
        r"""<call>add(b='\ud83d\ude00', o={"x": "\uD83D", 'y': '\U0000dE00'}, a=1)</call>""",
        "",
        "",
        [("add", {"b": "\N{GRINNING FACE}", "o": {"x": "\ud83d", "y": "\ude00"}, "a": 1})],
        [],
    ),
    "halves of a character in a literal": (
        "objects",
        r"<call><f=add><p=o>{'\ud83d\ude00': ['\ud83d', ('\ude00',)]}</p></f></call>",
        "",
        "",
        [("add", {"o": {"\N{GRINNING FACE}": ["\ud83d", ["\ude00"]]}})],
        ["other_syntax"],
    ),
    "halves of a character in another notation": (
        "python",
        r"""<call>{"name": "add", "arguments": "{\"b\": \"\ud83d\"}"}</call>""",
        "",
        "",
        [("add", {"b": "\ud83d"})],
        ["other_syntax"],
    ),
    "a mere bracket before a tool's name": (
        "list",
        "[add(a=1), Add(b=2)]",
        "",
        "",
        [("add", {"a": 1}), ("Add", {"b": 2})],
        ["unknown_tool"],
    ),
    "a mere bracket before another name": (
        "list",
        "[add it(1)](link), [Note(a=1)](link)",
        "[add it(1)](link), [Note(a=1)](link)",
        "",
        [],
        [],
    ),
    "what is no argument": (
        "python",
        "<call>add(**more, a=1)</call>.",
        ".",
        "",
        [("add", {"a": 1})],
        ["unexpected_text", "misplaced"],
    ),
    "what only looks like an argument": (
        "python",
        "<call>add(a=1, (b =2)</call>",
        "",
        "",
        [("add", {"a": 1})],
        ["unexpected_text"],
    ),
    "keys in quotes": (
        "python",
        "<call>add('b'='x', \"a\"=1)</call>",
        "",
        "",
        [("add", {"b": "x", "a": 1})],
        ["malformed", "malformed"],
    ),
    "a text without quotes, then a key in quotes": (
        "python",
        "<call>add(b= one two, 'a'=1)</call>",
        "",
        "",
        [("add", {"b": "one two", "a": 1})],
        ["malformed", "malformed"],
    ),
    "a text without quotes, and no end": (
        "python",
        "<call>add(b=one two</call>.",
        ".",
        "",
        [("add", {"b": "one two"})],
        ["malformed", "malformed", "misplaced"],
    ),
    "a number, cut off": ("python", "<call>add(a=3)</ca", "", "", [("add", {"a": 3})], ["cut_off"]),
    "a member once more": (
        "elements",
        "<call add><o><p>1</p><p>2</p></o></call>",
        "",
        "",
        [("add", {"o": {"p": ["1", "2"]}})],
        [],
    ),
    "a key with entities": (
        "escaped",
        '<call add><k "x&amp;quot;&quot;&lt;">1</k><k "a">2</k></call>',
        "",
        "",
        [("add", {'x&quot;"&lt;': "1", "a": 2})],
        ["unknown_argument"],
    ),
    "values with entities": (
        "entities",
        "<call add><k b>a &lt;b> &amp;lt; R&D &lt</k><k a>[&lt;</k></call>",
        "",
        "",
        [("add", {"b": "a <b> &lt; R&D &lt", "a": "[<"})],
        ["wrong_type"],
    ),
    "a guarded value with entities": (
        "entities",
        "<call add><k b><![CDATA[&lt;]]></k></call>",
        "",
        "",
        [("add", {"b": "&lt;"})],
        [],
    ),
    "a value that is cut off in an entity": (
        "entities",
        "<call add><k b>R&amp;D &am",
        "",
        "",
        [("add", {"b": "R&D "})],
        ["cut_off"],
    ),
    "another call that looks like an argument": (
        "nothing behind a call",
        '<calls>do: add\na: 1\ndo: add\ndo: add\nb: "x"\n</calls><end>',
        "",
        "",
        [("add", {"a": 1}), ("add", {}), ("add", {"b": "x"})],
        [],
    ),
    "a value that ends in a carriage return": (
        "lines",
        "<call add><b>\nx\r\n</b><c>\ny\r</c><d>\n\r\r\n</d></call>",
        "",
        "",
        [("add", {"b": "x", "c": "y\r", "d": "\r"})],
        ["wrong_type", "unknown_argument"],
    ),
    "JSON arguments instead": (
        "opened",
        '<calls><call "add">{"a": 1}</call></calls>',
        "",
        "",
        [("add", {"a": 1})],
        ["other_syntax"],
    ),
    "a call that closes itself": (
        "opened",
        '<calls><call "add"/></calls>',
        "",
        "",
        [("add", {})],
        ["no_arguments"],
    ),
    "a quoted opening, and both its closes": (
        "opened",
        "Write <calls> and <call>, </call> and </calls>.",
        "Write <calls> and <call>, </call> and </calls>.",
        "",
        [],
        [],
    ),
    "a key with blanks": (
        "section",
        "<calls>[add(b:{to go:1})]</calls>",
        "",
        "",
        [("add", {"b": {"to go": 1}})],
        [],
    ),
    "a section": (
        "section",
        "<calls>[add(a:1), add(b:~~q~~x, y~~q~~,c:[1,2])]</calls>",
        "",
        "",
        [("add", {"a": 1}), ("add", {"b": "x, y", "c": [1, 2]})],
        [],
    ),
    "a section that is cut off": (
        "section",
        "<calls>[add(a:1), ad",
        "",
        "",
        [("add", {"a": 1})],
        ["cut_off"],
    ),
    "a key with signs": (
        "tags",
        "<call add><a;b>x</a;b></call>",
        "",
        "",
        [("add", {"a;b": "x"})],
        ["unknown_argument"],
    ),
    "an argument begun twice": (
        "array",
        "<call add><arg <arg b>x</arg></call>",
        "",
        "",
        [("add", {"b": "x"})],
        ["unexpected_text"],
    ),
    "an argument without a value": (
        "python",
        "<call>add(a=, b='x')</call>",
        "",
        "",
        [("add", {"a": None, "b": "x"})],
        ["malformed"],
    ),
    "a string of broken arguments": (
        "json",
        '<call add>"{\\"a\\": 1"</call>',
        "",
        "",
        [("add", {"a": 1})],
        ["string_arguments"],
    ),
    "a comma left out": (
        "json",
        '<call add>{"a": 1 "b": "x"}</call>',
        "",
        "",
        [("add", {"a": 1, "b": "x"})],
        ["malformed"],
    ),
    "a method": (
        "code",
        "<run>add.call(a=1, b='x')<end>",
        "",
        "",
        [("add", {"a": 1, "b": "x"})],
        [],
    ),
    "a call closed too often": (
        "objects",
        "a</call>b",
        "ab",
        "",
        [],
        ["stray_marker"],
    ),
    "text between elements": (
        "elements",
        "<call add><c><item>1</item> oops <item>2</item></c></call>",
        "",
        "",
        [("add", {"c": [1, 2]})],
        ["unexpected_text"],
    ),
    "what opens reasoning, at the end": (
        "comments",
        "#|a #|",
        "",
        "a",
        [],
        ["repeated", "unclosed"],
    ),
    "a section's end that looks like a call": (
        "comments",
        '<calls><add>{"a": 1}</add></calls><end>',
        "",
        "",
        [("add", {"a": 1})],
        [],
    ),
    "a separator in a section": (
        "comments",
        '<calls><add>{"a": 1}</add> -next- <add>{}</add></calls><end>',
        "",
        "",
        [("add", {"a": 1}), ("add", {})],
        [],
    ),
    "a key right behind the head": (
        "keys",
        '<call add\nb: "x"\na: 1\n</call><end>',
        "",
        "",
        [("add", {"b": "x", "a": 1})],
        [],
    ),
    "content behind a call, begun with what could be noise": (
        "last",
        "<call add<k>b<s>x</call><say>`a`<end>",
        "`a`",
        "",
        [("add", {"b": "x"})],
        [],
    ),
    "an argument behind one that is no string": (
        "last",
        "<call add<k>c<j>[1]<k>z<s>x</call><end>",
        "",
        "",
        [("add", {"c": [1], "z": "x"})],
        ["unknown_argument"],
    ),
    "code": (
        "code",
        "Look:<run>print(1)\n<end>",
        "Look:",
        "",
        [("python", {"code": "print(1)"})],
        ["unknown_tool"],
    ),
}


def case_failures(form: FormatModule, case: Case) -> Iterator[str]:
    """Yield how what is read differs from what a case wants, and pieces from the whole text."""
    name, text, content, reasoning, calls, problems = case
    message = form.parse(text, tools=TOOLS)
    found = [(call.name, json.loads(call.arguments)) for call in message.tool_calls]
    pairs: list[tuple[str, Any, Any]] = [
        ("content", content, message.content),
        ("reasoning", reasoning, message.reasoning_content),
        ("calls", calls, found),
        ("problems", problems, [problem.kind for problem in message.problems]),
    ]
    for what, wanted, got in pairs:
        if wanted != got:
            yield f"{what}: wanted {wanted!r}, got {got!r}"
    wanted_dict = _chat_message(content, reasoning, found)
    if _without_ids(message.to_dict()) != wanted_dict:
        yield f"as a dictionary: {message.to_dict()!r}"
    if name == "tail" and [call.id for call in message.tool_calls] != ["7"]:
        yield f"ids: {message.tool_calls!r}"
    cut = not all(call.complete for call in message.tool_calls)
    if message.finish_reason != ("length" if cut else "tool_calls" if calls else "stop"):
        yield f"finish_reason: {message.finish_reason}"
    if any("\ud800" <= sign <= "\udfff" for call in message.tool_calls for sign in call.arguments):
        yield "arguments that UTF-8 can't hold"
    for size in (1, 2, 3, 5):
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        streamed, events = stream(form, pieces, tools=TOOLS)
        if streamed != message or added_up(events) != summary(message):
            yield f"in pieces of {size}: {streamed!r}"
        late = [event.to_delta() for event in events if event.type == "tool_call_end"]
        if name == "tail" and late != [{"tool_calls": [{"index": 0, "id": "7"}]}]:
            yield f"ids in deltas: {late!r}"
        deltas = [delta for event in events if (delta := event.to_delta())]
        if _added_deltas(deltas) != wanted_dict:
            yield f"as deltas, in pieces of {size}: {deltas!r}"
    yield from _cut_failures(form, text)
    yield from _prompt_failures(form, text)
    yield from _option_failures(form, text, FORMATS[name].reasoning)
    yield from _copy_failures(form, text)


def _option_failures(form: FormatModule, text: str, marks: Reasoning) -> Iterator[str]:
    """Yield what is wrong with other ends of the turn, inline reasoning, and without tools."""
    whole = form.parse(text, tools=TOOLS)
    if whole.problems:
        return
    ended = form.parse(text.removesuffix("<end>") + "@@", tools=TOOLS, stop=["@@"])
    if summary(ended) != summary(whole):
        yield f"with a stop string: {ended!r}"
    for enable, key in ((True, "prompt_with_thinking"), (False, "prompt_without_thinking")):
        prompt = form.FORMAT.get(key)
        if prompt and form.parse("x", enable_thinking=enable) != form.parse("x", prefill=prompt):
            yield f"the {key} isn't taken"
    inline = form.parse(text, tools=TOOLS, reasoning="inline")
    if whole.reasoning_content and f"{whole.reasoning_content}{marks.end}" not in inline.content:
        yield f"inline: {inline!r}"
    quoted = 'See: {"do": "add", "with": {}}'
    if form.parse(quoted).content != quoted:
        yield "an object in text, without tools"


def _cut_failures(form: FormatModule, text: str) -> Iterator[str]:
    """Yield what is wrong where the text breaks off: arguments load, and what is cut is told."""
    for cut in range(len(text)):
        message = form.parse(text[:cut], tools=TOOLS)
        for call in message.tool_calls:
            try:
                json.loads(call.arguments)
            except ValueError:
                yield f"arguments {call.arguments!r} of {text[:cut]!r}"
        whole = all(call.complete for call in message.tool_calls)
        if not whole and not message.problems:
            yield f"nothing is told of {text[:cut]!r}"
        streamed, events = stream(form, text[:cut], tools=TOOLS)
        if streamed != message or added_up(events) != summary(message):
            yield f"in pieces: {text[:cut]!r}"


def _prompt_failures(form: FormatModule, text: str) -> Iterator[str]:
    """Yield what is wrong where the prompt holds some of the text, or all of it."""
    whole = form.parse(text, tools=TOOLS)
    for cut in range(len(text) + 1):
        options = {"tools": TOOLS, "prefill": text[:cut]}
        echoed = form.parse(text[cut:], echo=True, **options)
        if summary(echoed) != summary(whole):
            yield f"echoed behind {text[:cut]!r}: {echoed!r}"
        _, events = stream(form, [text[cut:]], **options)
        if any(event.type == "tool_call_delta" and not event.arguments for event in events):
            yield f"an empty delta behind {text[:cut]!r}"
    forgotten = form.parse("", tools=TOOLS, prefill=text)
    if whole.problems:  # some are settled by the text's end alone, which isn't the prompt's
        return
    if forgotten.content or any(call.complete for call in forgotten.tool_calls):
        yield f"told of the prompt: {forgotten!r}"


def _copy_failures(form: FormatModule, text: str) -> Iterator[str]:
    """Yield where a parser that is copied in mid-stream, or at the end, goes on otherwise."""
    for cut in (len(text) // 3, len(text) * 2 // 3, len(text)):
        parser = form.Parser(tools=TOOLS)
        parser.feed(text[:cut])
        other = copy.copy(parser)
        whole = parser.feed(text[cut:]) + parser.finish()
        if other.feed(text[cut:]) + other.finish() != whole or other.message != parser.message:
            yield f"copied behind {text[:cut]!r}"
        if copy.copy(parser).message != parser.message:
            yield "copied at the end"


def _chat_message(content: str, reasoning: str, calls: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a message as chat-completions APIs have it, with the arguments loaded."""
    message: dict[str, Any] = {"content": content or (None if calls else "")}
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = [list(call) for call in calls]
    return message


def _without_ids(found: dict[str, Any]) -> dict[str, Any]:
    message = {key: value for key, value in found.items() if key != "role"}
    functions = [call["function"] for call in message.pop("tool_calls", ())]
    if functions:
        message["tool_calls"] = [
            [function["name"], json.loads(function["arguments"])] for function in functions
        ]
    return message


def _added_deltas(deltas: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the message that a client of a stream puts together."""
    texts = {"content": "", "reasoning_content": ""}
    calls: dict[int, list[str]] = {}
    for delta in deltas:
        for key in texts:
            texts[key] += delta.get(key, "")
        for call in delta.get("tool_calls", ()):
            function = call.get("function", {})
            known = calls.setdefault(call["index"], [function.get("name", ""), ""])
            known[1] += function.get("arguments", "")
    loaded = [(name, json.loads(arguments)) for name, arguments in calls.values()]
    return _chat_message(texts["content"], texts["reasoning_content"], loaded)
