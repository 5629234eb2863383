"""What the engine reads in the formats of `tests.small_formats`."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tests.parser_checks import added_up, stream, summary
from tests.small_formats import FORMATS
from turnspec.codegen.format_module import FormatModule
from turnspec.spec.model import Reasoning


class Case(NamedTuple):
    """A text in a format, and what it says: calls with arguments, and the kinds of problems."""

    format: str
    text: str
    content: str = ""
    reasoning: str = ""
    calls: Sequence[tuple[str, Any]] = ()
    told: Sequence[str] = ()
    complete: bool = True  # whether all calls are


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
    "a line that begins with a tool's name": Case(
        "named lines",
        'So\n  add {"a": 1}\nadd{}<end>',
        content="So",
        calls=[("add", {"a": 1}), ("add", {})],
    ),
    "a turn that begins with a tool's name": Case(
        "named lines",
        '<why>add{"a": 1} or sub{}</why>\nadd{"a": 2}<end>',
        reasoning='add{"a": 1} or sub{}',
        calls=[("add", {"a": 2})],
        told=["draft"],
    ),
    "a head that breaks off behind a marker that other calls have, too": Case(
        "tag in a tag", "So<call>\n<do=ad", content="So", told=["cut_off"]
    ),
    "a member that breaks off as the calls begin": Case(
        "bare in an object", '{"calls": [{"', told=["cut_off"]
    ),
    "an end without a word, of reasoning, content and calls": Case(
        "one end",
        '[why]So[/][say]It [/ is.[/][tool add]{"a": 1}[/]<end>',
        content="It [/ is.",
        reasoning="So",
        calls=[("add", {"a": 1})],
    ),
    "a fence that opens begins as one that closes": Case(
        "fences",
        '```py```\n```do\n{"do": "add", "with": {}}\n```\n```do {"do": "now", "with": {}}```<end>',
        content="```py```",
        calls=[("add", {}), ("now", {})],
        told=["unknown_tool"],
    ),
    "a tool's name in prose": Case(
        "named lines",
        'Use add{"a": 1},\nsub{"a": 1}\nadd {it}\nadd\n{}',
        content='Use add{"a": 1},\nsub{"a": 1}\nadd {it}',
        calls=[("add", {})],
    ),
    "a line of values that begins with a tool's name": Case(
        "named lines of values",
        "add (this)\nadd(a=1, b='x')\nadd()<end>",
        content="add (this)",
        calls=[("add", {"a": 1, "b": "x"}), ("add", {})],
    ),
    "lines that begin with a key": Case(
        "keyed lines",
        "<call add>\na (j): 1\nb (s): two\nthree\nc (j): [4]\n</call><end>",
        calls=[("add", {"a": 1, "b": " two\nthree", "c": [4]})],
    ),
    "tokens at the edges of a turn": Case(
        "tokens", "<s> Hi!</s>", content="Hi!", told=["stray_marker"]
    ),
    "tokens at the edges of parts": Case(
        "tokens",
        "<why><s>x<pad></why><pad>Hi <pad><call add>{}</call><pad></s>",
        content="Hi",
        reasoning="x",
        calls=[("add", {})],
        told=["stray_marker"] * 5,
    ),
    "tokens within a text": Case(
        "tokens",
        "Write '</s>' behind, and <s> before it.",
        content="Write '</s>' behind, and <s> before it.",
        told=["stray_marker"] * 2,
    ),
    "a token that is text at the end of a word": Case(
        "tokens", "one<pad>two", content="one<pad>two", told=["stray_marker"]
    ),
    "a token after which a model runs on": Case(
        "tokens", "Hi!</s>User: so?", content="Hi!", told=["text_after_end"]
    ),
    "a quotation, and a token that ends it all": Case(
        "tokens", 'It says "so" </s>\n', content='It says "so"'
    ),
    "other marks of content": Case("tokens", "[a]Hi![/a]<end>", content="Hi!"),
    "other marks in quotes": Case(
        "tokens",
        "Put it between '[a]' and `[/a]` then.",
        content="Put it between '[a]' and `[/a]` then.",
        told=["stray_marker"] * 2,
    ),
    "an object behind a token": Case(
        "bare tokens",
        '<s>{"do": "add", "with": {}}</s>',
        calls=[("add", {})],
        told=["stray_marker"],
    ),
    "an id that holds a tool's name": Case(
        "ids",
        '<call fn.add:0>{"a": 1}</call><call add>{}</call>',
        calls=[("add", {"a": 1}), ("add", {})],
    ),
    "an id that holds no tool's name": Case(
        "ids",
        '<call fn.adder:0>{"a": 1}</call>',
        calls=[("fn.adder:0", {"a": 1})],
        told=["unknown_tool"],
    ),
    "a name behind the arguments": Case(
        "name last",
        'So <with>{"a": 1}<do>add</call>\n<with>"{}"<do>sub</call><end>',
        content="So",
        calls=[("add", {"a": 1}), ("sub", {})],
        told=["string_arguments", "unknown_tool"],
    ),
    "no name behind the arguments": Case(
        "name last", '<with>{"a": 1} so', content="so", told=["missing_marker"]
    ),
    "arguments that are cut off before the name": Case(
        "name last", '<with>{"a": 1', told=["cut_off"]
    ),
    "a call behind reasoning, to a tool": Case(
        "addressed",
        "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant "
        'to=functions.add<|channel|>commentary json<|message|>{"a": 1}<|call|>',
        reasoning="Hm",
        calls=[("add", {"a": 1})],
    ),
    "a header that lacks a channel, and one too many": Case(
        "addressed",
        '<|channel|>commentary to=add<|message|>{"a": 1}<|call|>',
        calls=[("add", {"a": 1})],
        told=["repeated", "missing_marker", "missing_marker"],
    ),
    "a call in a message for the user": Case(
        "addressed",
        "<|channel|>final<|message|>Hi to=functions.add<|channel|>commentary json<|message|>{}",
        content="Hi to=functions.add<|channel|>commentary json<|message|>{}",
    ),
    "messages without a header": Case(
        "addressed",
        "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|message|>Hi<|return|>",
        content="Hi",
        reasoning="Hm",
    ),
    "a call named in its header and once more": Case(
        "addressed, and named",
        " to=self<|message|>Hm<|end|><|start|>assistant to=add<|message|><do add>"
        '{"a": 1}</do><|call|>',
        reasoning="Hm",
        calls=[("add", {"a": 1})],
    ),
    "a call whose header names the tool": Case(
        "addressed, and named",
        ' to=add<|message|><do user>{"a": 1}</do><|call|>',
        calls=[("add", {"a": 1})],
        told=["repeated"],
    ),
    "a tag of calls in a message for the user": Case(
        "addressed, and named",
        ' to=user<|message|><do add>{"a": 1}</do><|end|><|start|>assistant to=add<|message|>'
        "<do add>{}</do><|call|>",
        content='<do add>{"a": 1}</do>',
        calls=[("add", {})],
    ),
    "a tag of calls that names the user, to the user": Case(
        "addressed, and named",
        ' to=user<|message|><do user>{"a": 1}</do><|return|>',
        content='<do user>{"a": 1}</do>',
    ),
    "a tag of calls in a message to nobody": Case(
        "addressed, and named",
        ' to=it<|message|><do add>{"a": 1}</do><|return|>',
        content='<do add>{"a": 1}</do>',
        told=["unexpected_text"],
    ),
    "a tool that there is not, named twice": Case(
        "addressed, and named",
        ' to=it<|message|><do it>{"a": 1}</do><|call|>',
        calls=[("it", {"a": 1})],
        told=["unknown_tool"],
    ),
    "a string in three quotes": Case(
        "python",
        '<call>add(b="""say "x", a=1""")</call>',
        calls=[("add", {"b": 'say "x", a=1'})],
    ),
    "quotes and a bracket in a string": Case(
        "python",
        '<call>add(b="f("x") y", a=1)</call>',
        calls=[("add", {"b": 'f("x") y', "a": 1})],
        told=["malformed", "malformed"],
    ),
    "a quote too many at a string's end": Case(
        "python",
        '<call>add(b="x"")</call>',
        calls=[("add", {"b": 'x"'})],
        told=["malformed", "malformed"],
        complete=False,
    ),
    "another argument in a string that isn't closed": Case(
        "python",
        '<call>add(b="x, c="y")</call>',
        calls=[("add", {"b": 'x, c="y'})],
        told=["malformed"],
        complete=False,
    ),
    "quotes and a bracket in a text without escapes": Case(
        "raw texts",
        '<call>add(b="f("x\\") y", o={"x": "\\t"})</call>',
        calls=[("add", {"b": 'f("x\\") y', "o": {"x": "\t"}})],
    ),
    "another argument in a text without escapes that isn't closed": Case(
        "raw texts",
        '<call>add(b="x, c="y")</call>',
        calls=[("add", {"b": 'x, c="y'})],
        told=["malformed"],
        complete=False,
    ),
    "quotes of the format's own in a text": Case(
        "brackets",
        "<call>do:add{b:~~q~~f(~~q~~x~~q~~) y~~q~~,a:1}</call>",
        calls=[("add", {"b": "f(~~q~~x~~q~~) y", "a": 1})],
        told=["malformed"],
        complete=False,
    ),
    "quotes of the format's own in an array's text, behind one without a comma": Case(
        "brackets",
        "<call>do:add{o:{b:[~~q~~x~~q~~ ~~q~~y~~q~~z~~q~~]}}</call>",
        calls=[("add", {"o": {"b": ["x", "y~~q~~z"]}})],
        told=["malformed", "malformed"],
        complete=False,
    ),
    "a name alone before another call": Case(
        "python",
        "So<call>add\n<call>add(a=1)</call><end>",
        content="So",
        calls=[("add", {}), ("add", {"a": 1})],
        told=["no_arguments"],
        complete=False,
    ),
    "a name of no tool before another call": Case(
        "python",
        "So <call>sub\n<call>add(a=1)</call><end>",
        content="So <call>sub",
        calls=[("add", {"a": 1})],
    ),
    "two messages, the later one without its channel": Case(
        "addressed",
        "<|channel|>final<|message|>Hm<|end|><|start|>assistant<|message|>Hi<|return|>",
        content="HmHi",
    ),
    "a header without its tag, of other words": Case(
        "addressed",
        "final? to be<|message|>Hi<|return|>",
        content="Hi",
        told=["unexpected_text"],
    ),
    "a call in reasoning after content": Case(
        "addressed",
        "<|channel|>final<|message|>Hi<|channel|>analysis<|message|>to=functions.add"
        "<|channel|>commentary json<|message|>{}<|call|>",
        content="Hi",
        calls=[("add", {})],
        told=["misplaced", "unclosed"],
    ),
    "texts without escapes with nothing but blanks between": Case(
        "raw texts in a row",
        '<call>add[b: "say "x" b" a: 1]</call><end>',
        calls=[("add", {"b": 'say "x" b', "a": 1})],
    ),
    "tags of names, and of markup in a value, where the text ends": Case(
        "named tags",
        "So<calls><add><p=b><b>x</b></p><p=a>1</p></add>\n<add></add></calls>",
        content="So",
        calls=[("add", {"b": "<b>x</b>", "a": 1}), ("add", {})],
    ),
    "a tag before a key, behind that of a name": Case(
        "named tags of pairs",
        "<calls><add><k>b</k><v>x</v><k>a</k><v>1</v></add></calls><end>",
        calls=[("add", {"b": "x", "a": 1})],
    ),
    "keys in attributes, and calls with commas between": Case(
        "named tags of JSON",
        '<calls><add><p of="b">"x"</p><p of="a">1</p></add>, <add></add></calls><end>',
        calls=[("add", {"b": "x", "a": 1}), ("add", {})],
    ),
    "elements in lines": Case(
        "lines of elements",
        "<call add><c>\n<item>1</item>\n<item>2</item>\n</c>\n"
        "<o>\n<item>\nx\n</item>\n<q>\ny\n</q>\n</o>\n</call><end>",
        calls=[("add", {"c": [1, 2], "o": {"item": "x", "q": "y"}})],
    ),
    "members that are closed as arguments are": Case(
        "members like arguments",
        "<call add><p o><p q>y</p></p><p c><item>1</item></p></call>, <call add></call><end>",
        calls=[("add", {"o": {"q": "y"}, "c": [1]}), ("add", {})],
    ),
    "commas before and after calls that are none's": Case(
        "members like arguments",
        "<call add></call>, <call add></call>, ]<end>",
        calls=[("add", {}), ("add", {})],
        told=["stray_marker"],
    ),
    "an object of a call in the reasoning, which goes on": Case(
        "thoughts of objects",
        '<why>First {"do": "add", "with": {}} and so on.</why>It.<end>',
        content="It.",
        reasoning='First {"do": "add", "with": {}} and so on.',
        told=["draft"],
    ),
    "an object of a call in the reasoning, which ends with it": Case(
        "thoughts of objects",
        '<why>First {"do": "add", "with": {}}<end>',
        reasoning="First",
        calls=[("add", {})],
        told=["unclosed"],
    ),
    "arguments before the name, one of them without a value": Case(
        "objects",
        '<call>{"with": {"b": "x", "a": }, "do": "add"}</call>'
        '<call>{"do": "add", "with": {}}</call>',
        calls=[("add", {"b": "x"}), ("add", {})],
        told=["malformed", "order"],
        complete=False,
    ),
    "a head that breaks off in the quotes of its name": Case(
        "attributes of pairs", 'So<call of="', content="So", told=["cut_off"]
    ),
    "a head that breaks off in its name": Case(
        "attributes of pairs", 'So<call of="ad', content="So", told=["cut_off"]
    ),
    "a head that breaks off behind its name": Case(
        "attributes of pairs", 'So<call of="add"', content="So", told=["cut_off"]
    ),
    "escapes of Python's beside a backslash that escapes nothing": Case(
        "tags",
        r"""<call add><o>{"x": "\a\x41", 'y': 1}</o></call><call add><o>{"x": "\0\d"}</o></call>""",
        calls=[("add", {"o": {"x": "\aA", "y": 1}}), ("add", {"o": {"x": "\\0\\d"}})],
    ),
    "a tool that is its own name space": Case(
        "addressed",
        " to=functions.add.add<|channel|>commentary json<|message|>{}<|call|>",
        calls=[("add", {})],
        told=["repeated"],
    ),
    "keys that are names": Case(
        "named by keys",
        '<calls>[{"add": {"a": 1}}<next>{"add": {}}]</calls><end>',
        calls=[("add", {"a": 1}), ("add", {})],
    ),
    "keys of APIs where keys are names": Case(
        "named by keys",
        '<calls>[{"name": "add", "arguments": {"a": 1}}]</calls>',
        calls=[("add", {"a": 1})],
        told=["other_syntax"],
    ),
    "a name in an object around it": Case(
        "named by keys",
        '<calls>[{"function": {"add": {"a": 1}}}]</calls>',
        calls=[("add", {"a": 1})],
        told=["wrapper"],
    ),
    "a call that is cut off before its name": Case(
        "named by keys", 'So <calls>[{"ad', content="So", told=["cut_off"]
    ),
    "a marker out of what stood around another": Case(
        "objects", "a <ca</call>ll> b", content="a <call> b", told=["stray_marker", "stray_marker"]
    ),
    "a section that nothing opened": Case(
        "opened", "a</calls>b", content="ab", told=["stray_marker"]
    ),
    "a key twice": Case(
        "json",
        '<call add>{"a": 1, "a": 2}</call>',
        calls=[("add", {"a": 2})],
        told=["repeated_argument"],
    ),
    "members that are no more than words": Case(
        "json",
        '<call add>{"o": {"x" y z}, "a": 1, 2}</call>',
        calls=[("add", {"o": {"x": "y"}, "a": 1})],
        told=["malformed"] * 7,
        complete=False,
    ),
    "an element's end inside of it": Case(
        "elements",
        "<call add><o><p>1</p>2</p></o></call>",
        calls=[("add", {"o": {"p": "1</p>2"}})],
        told=["inner_marker"],
        complete=False,
    ),
    "an element's beginning inside of it": Case(
        "elements", "<call add><o><p>1<p>2</p></o></call>", calls=[("add", {"o": {"p": "1<p>2"}})]
    ),
    "elements that are not closed": Case(
        "array",
        "<call add><arg c><e>1<e>2</call>",
        calls=[("add", {"c": [1, 2]})],
        told=["missing_marker", "missing_marker"],
    ),
    "a mention in reasoning, and its end behind that": Case(
        "thoughts",
        "<why><call></why> </call> here<end>",
        content="here",
        reasoning="<call>",
        told=["stray_marker"],
    ),
    "reasoning that the turn's end ends": Case("text", "<why><end>", told=["unclosed"]),
    "a section that lacks its bracket, and breaks off": Case(
        "section",
        "<calls>add(a:1), ad",
        calls=[("add", {"a": 1})],
        told=["missing_marker", "cut_off"],
    ),
    "a section that breaks off before a call": Case(
        "section", "<calls>[add(a:1), ", calls=[("add", {"a": 1})], told=["cut_off"]
    ),
    "an argument behind an unclosed one, and nothing more": Case(
        "tags",
        "<call add><b>x<a>",
        calls=[("add", {"b": "x", "a": ""})],
        told=["missing_marker", "cut_off", "wrong_type"],
        complete=False,
    ),
    "a guard, and no end of the value": Case(
        "entities",
        "<call add><k b><![CDATA[&lt;]]></call>",
        calls=[("add", {"b": "&lt;"})],
        told=["missing_marker"],
    ),
    "a guard, and no end of the call": Case(
        "entities",
        "<call add><k b><![CDATA[&lt;]]></k>",
        calls=[("add", {"b": "&lt;"})],
        told=["cut_off"],
        complete=False,
    ),
    "a separator in what is no call": Case(
        "named by keys",
        '<calls>So{"add": {"a": 1} <next>{"add": {}}]</calls><end>',
        content='<calls>So{"add": {"a": 1} <next>{"add": {}}]</calls>',
        told=["stray_marker", "no_name"],
    ),
    "a header without its tag, for the user": Case(
        "addressed",
        " final<|message|>Hi to= .add<|channel|>commentary json<|message|>{}",
        content="Hi to= .add<|channel|>commentary json<|message|>{}",
    ),
    "arguments that are members of the call": Case(
        "objects",
        '<call>{"b": "x", "do": "add", "a": 1, "why": {}}</call>',
        calls=[("add", {"b": "x", "a": 1})],
        told=["extra_field", "extra_field", "extra_field"],
    ),
    "a tool under another key": Case(
        "objects",
        '<call>{"tool": "add", "with": {"a": 1}}</call>',
        calls=[("add", {"a": 1})],
        told=["other_syntax"],
    ),
    "a first key without the tag before it": Case(
        "opened",
        '<calls><call "add">\na</k><v>1</v><k>b</k><v>x</v></call></calls>',
        calls=[("add", {"a": 1, "b": "x"})],
        told=["missing_marker"],
    ),
    "another format's tags around a call": Case(
        "opened",
        '<tools>\n<call "add"></call>\n</tools>',
        calls=[("add", {})],
        told=["unexpected_text", "stray_marker"],
    ),
    "a tag before a word, and one after a call": Case(
        "opened",
        '<b>Hi</b><calls><call "add"></call></calls><b>Hi',
        content="<b>Hi</b><b>Hi",
        calls=[("add", {})],
        told=["misplaced"],
    ),
    "a closing tag before a call without its opening": Case(
        "opened",
        '<b>Hi</b><call "add"></call>',
        content="<b>Hi</b>",
        calls=[("add", {})],
        told=["missing_marker"],
    ),
    "a header of other words": Case(
        "addressed",
        "<|channel|>final? to be<|message|>Hi<|return|>",
        content="Hi",
        told=["unexpected_text"],
    ),
    "a header that ends without a message": Case(
        "addressed",
        "<|channel|>??<|end|><|start|>assistant<|channel|>analysis<|message|>Hm<|end|>"
        "<|start|>assistant<|channel|>final<|message|>Hi<|return|>",
        content="Hi",
        reasoning="Hm",
        told=["unexpected_text"],
    ),
    "a name with the head's own word before it": Case(
        "addressed",
        "to=functions_add<|channel|>commentary json<|message|>{}",
        calls=[("add", {})],
        told=["repeated", "missing_marker"],
    ),
    "a tuple, and an argument that is no value": Case(
        "list",
        "[add(ab=(1), Add(b=2link)]",
        calls=[("add", {"ab": [1]})],
        told=["unknown_argument", "unexpected_text"],
        complete=False,
    ),
    "content alone": Case("text", "Hello!<end>", content="Hello!"),
    "reasoning, then content": Case("text", "<why>x</why>\nHi<end>", content="Hi", reasoning="x"),
    "white space inside content": Case("text", "a\n\n b <end>", content="a\n\n b"),
    "a marker in quotes": Case("text", "Write '<why>' there.", content="Write '<why>' there."),
    "a beginning that is none": Case("text", "a <wh b", content="a <wh b"),
    "reasoning that isn't closed": Case("text", "<why>x", reasoning="x", told=["unclosed"]),
    "a close too many": Case("text", "a</why>b", content="ab", told=["stray_marker"]),
    "text after the end": Case("text", "a<end>b", content="a", told=["text_after_end"]),
    "an object": Case(
        "objects",
        'Hm.<call>{"do": "add", "with": {"a": 1}}</call><end>',
        content="Hm.",
        calls=[("add", {"a": 1})],
    ),
    "members in another order": Case(
        "objects",
        '<call>{"with": {"a": 1}, "do": "add"}</call>',
        calls=[("add", {"a": 1})],
        told=["order"],
    ),
    "an object without a name": Case(
        "objects", '<call>{"x": 1}</call>', content='<call>{"x": 1}</call>', told=["no_name"]
    ),
    "a text instead of an object": Case(
        "objects",
        '<call>{"do": "add", "with": {}}</call><call>add a and b</call>',
        content="<call>add a and b</call>",
        calls=[("add", {})],
        told=["misplaced", "no_name"],
    ),
    "a marker between objects": Case(
        "separated",
        '<calls>{"do": "add", "with": {}} <next>\n{"do": "add", "with": {}}</calls><end>',
        calls=[("add", {}), ("add", {})],
    ),
    "a call in a list behind a broken one": Case(
        "separated",
        '<calls>{"do": "add", "with": ("x")} {"do": "add", "with": {"a": 2}}</calls><end>',
        content='("x")}',
        calls=[("add", {}), ("add", {"a": 2})],
        told=["malformed", "no_arguments", "misplaced"],
        complete=False,
    ),
    "a call in a list behind one without its last brace": Case(
        "separated",
        '<calls>{"do": "add", "with": {"a": 1}\n{"do": "add", "with": {"a": 2}}</calls><end>',
        calls=[("add", {"a": 1}), ("add", {"a": 2})],
        told=["malformed"],
    ),
    "a call in a list behind a brace too many": Case(
        "separated",
        '<calls>{"do": "add", "with": {"a": 1}}} {"do": "add", "with": {"a": 2}}</calls><end>',
        calls=[("add", {"a": 1}), ("add", {"a": 2})],
        told=["stray_marker"],
    ),
    "what is in a list behind a broken call, and names no tool": Case(
        "separated",
        '<calls>{"do": "add", "with": ("x", {"do": "it", "with": {}})}</calls><end>',
        content='("x", {"do": "it", "with": {}})}',
        calls=[("add", {})],
        told=[
            *("malformed", "no_arguments", "misplaced", "no_name", "misplaced"),
            "stray_marker",
        ],
        complete=False,
    ),
    "what looks like a call behind a list": Case(
        "separated",
        '<calls>{"do": "add", "with": {}}</calls>So {"do": "add", "with": {"a": 2}}.<end>',
        content='So {"do": "add", "with": {"a": 2}}.',
        calls=[("add", {})],
        told=["misplaced"],
    ),
    "a call that is quoted": Case("objects", "Use <call> tags.", content="Use <call> tags."),
    "an object behind another's tag": Case(
        "calls alone",
        'So <|do it|> <tool>{"do": "add", "with": {"a": 1}}',
        content="So <|do it|>",
        calls=[("add", {"a": 1})],
        told=["unexpected_text"],
    ),
    "an object behind a tag that content may be": Case(
        "bare",
        'So <tool>{"do": "add", "with": {"a": 1}}',
        content="So <tool>",
        calls=[("add", {"a": 1})],
    ),
    "a tag before other JSON": Case("calls alone", '<b>{"a": 1}</b>', content='<b>{"a": 1}</b>'),
    "an object nobody announces": Case(
        "bare", '{"do": "add", "with": {}, "as": "x1"}', calls=[("add", {})]
    ),
    "other JSON": Case("bare", '{"answer": 1}', content='{"answer": 1}'),
    "a head with JSON": Case(
        "json",
        '<call add>{"a": [1, {"b": "\\u00e9"}]}</call>',
        calls=[("add", {"a": [1, {"b": "é"}]})],
    ),
    "an argument string": Case(
        "json", '<call add>"{}"</call>', calls=[("add", {})], told=["string_arguments"]
    ),
    "a call that is cut off": Case(
        "json", '<call add>{"a": "x', calls=[("add", {"a": "x"})], told=["cut_off"], complete=False
    ),
    "an unknown tool": Case(
        "json", "<call sub>{}</call>", calls=[("sub", {})], told=["unknown_tool"]
    ),
    "a call that is begun again in an open string": Case(
        "json",
        '<call add>{"b": "x\n<call add>{"a": 1}</call>',
        calls=[("add", {"b": "x\n"}), ("add", {"a": 1})],
        told=["malformed"],
        complete=False,
    ),
    "a call that is begun again in an open string of Python": Case(
        "python",
        "<call>add(b='x\n<call>add(b='y')</call>",
        calls=[("add", {"b": "x\n"}), ("add", {"b": "y"})],
        told=["malformed", "malformed"],
        complete=False,
    ),
    "a call that is begun again behind a value": Case(
        "python",
        "<call>add(b='x'\n<call>add(b='y')</call>",
        calls=[("add", {"b": "x"}), ("add", {"b": "y"})],
        told=["malformed"],
        complete=False,
    ),
    "a call that is begun again in a text without quotes": Case(
        "python",
        "<call>add(b=x y\n<call>add(b='y')</call>",
        calls=[("add", {"b": "x y\n"}), ("add", {"b": "y"})],
        told=["malformed", "malformed"],
        complete=False,
    ),
    "a string that ends behind what begins a call": Case(
        "json",
        '<call add>{"b": "as <call add>", "c": {"a": 1}}</call>',
        calls=[("add", {"b": "as <call add>", "c": {"a": 1}})],
    ),
    "another quote at the end of what is cut off": Case(
        "json",
        '<call add>{"b": \'x"',
        calls=[("add", {"b": 'x"'})],
        told=["malformed", "cut_off"],
        complete=False,
    ),
    "an id behind the arguments": Case("tail", "<call add>{} #7</call>", calls=[("add", {})]),
    "Python's numbers that lack a zero": Case(
        "python",
        "<call>add(a=.5, b=[2., -.25, 1.e3])</call><call>add(a=3., b=3. Then four)</call>",
        calls=[
            ("add", {"a": 0.5, "b": [2.0, -0.25, 1000.0]}),
            ("add", {"a": 3.0, "b": "3. Then four"}),
        ],
        told=["malformed"],
    ),
    "Python's literals": Case(
        "python",
        "<call>add(a=1, b='it\\'s', c=[True, None])</call>",
        calls=[("add", {"a": 1, "b": "it's", "c": [True, None]})],
    ),
    "text by its schema": Case(
        "tags", "<call add><a>3</a><b>3</b></call>", calls=[("add", {"a": 3, "b": "3"})]
    ),
    "a value of the wrong type": Case(
        "tags",
        "<call add><a>three</a></call>",
        calls=[("add", {"a": "three"})],
        told=["wrong_type"],
    ),
    "a value that isn't closed": Case(
        "tags", "<call add><b>x</call>", calls=[("add", {"b": "x"})], told=["missing_marker"]
    ),
    "elements": Case(
        "elements",
        "<call add><c><item>1</item><item>2</item></c></call>",
        calls=[("add", {"c": [1, 2]})],
    ),
    "an array": Case(
        "array",
        "<call add><arg c><e>1</e>\n<e>2</e></arg><arg b><e>x</e></arg></call>",
        calls=[("add", {"c": [1, 2], "b": "<e>x</e>"})],
    ),
    "an element that isn't closed": Case(
        "array",
        "<call add><arg c><e>1</e><e>2</arg><arg b>x</arg></call>",
        calls=[("add", {"c": [1, 2], "b": "x"})],
        told=["missing_marker"],
    ),
    "an array that isn't closed": Case(
        "array",
        "<call add><arg c><e>1</e><arg b>x</arg></call>",
        calls=[("add", {"c": [1], "b": "x"})],
        told=["missing_marker"],
    ),
    "a member that isn't closed": Case(
        "array",
        "<call add><arg o><m k>1</m><m l>2</arg></call>",
        calls=[("add", {"o": {"k": "1", "l": "2"}})],
        told=["missing_marker"],
    ),
    "an array that the call closes": Case(
        "array",
        "<call add><arg c><e>1</e><e>2</call>",
        calls=[("add", {"c": [1, 2]})],
        told=["missing_marker"],
    ),
    "a call at the end of reasoning": Case(
        "thoughts",
        '<why>x <call>add<with>{"a": 1}</call>\n<call>add<with>{}</call><end>',
        reasoning="x",
        calls=[("add", {"a": 1}), ("add", {})],
        told=["unclosed"],
    ),
    "a call in reasoning that goes on": Case(
        "thoughts",
        '<why>x <call>add<with>{"a": 1}</call> y <call>add<with>{}</call></why>Hi',
        content="Hi",
        reasoning='x <call>add<with>{"a": 1}</call> y <call>add<with>{}</call>',
        told=["draft", "draft"],
    ),
    "a draft of a call, and the call": Case(
        "thoughts",
        '<why><call>add<with>{"a": 1}</call> No: <call>add<with>{"a": 2}</call><end>',
        reasoning='<call>add<with>{"a": 1}</call> No:',
        calls=[("add", {"a": 2})],
        told=["draft", "unclosed"],
    ),
    "a draft of a call that breaks off, and the call": Case(
        "thoughts",
        '<why>So <call>add<with>{"a": "x\ny</why><call>add<with>{"a": 2}</call><end>',
        reasoning='So <call>add<with>{"a": "x\ny',
        calls=[("add", {"a": 2})],
        told=["draft"],
    ),
    "a draft of a call that breaks off, and content": Case(
        "thoughts",
        '<why>So <call>add<with>{"a": [</why>Hi "you"<end>',
        content='Hi "you"',
        reasoning='So <call>add<with>{"a": [',
        told=["draft"],
    ),
    "a call in reasoning whose string holds the end of reasoning": Case(
        "thoughts",
        '<why>So <call>add<with>{"a": "</why>"}</call><end>',
        reasoning="So",
        calls=[("add", {"a": "</why>"})],
        told=["unclosed"],
    ),
    "a close in reasoning": Case(
        "thoughts",
        "<why>not </call> here</why>Hi",
        content="Hi",
        reasoning="not </call> here",
        told=["stray_marker"],
    ),
    "reasoning opened without its word": Case(
        "thoughts", "<|w>x</why>Hi", content="Hi", reasoning="x", told=["missing_marker"]
    ),
    "a head without its last marker": Case(
        "thoughts", '<call>add{"a": 1}</call>', calls=[("add", {"a": 1})], told=["missing_marker"]
    ),
    "a head and no arguments": Case(
        "thoughts", "<call>add</call>", calls=[("add", {})], told=["missing_marker", "no_arguments"]
    ),
    "code instead of JSON": Case(
        "json",
        '<call python>print("hi")</call>',
        calls=[("python", {"code": 'print("hi")'})],
        told=["unknown_tool", "malformed"],
    ),
    "a word instead of JSON": Case(
        "json",
        "<call add>nonsense</call>",
        calls=[("add", "nonsense")],
        told=["malformed", "not_an_object"],
        complete=False,
    ),
    "a string that isn't closed": Case(
        "json",
        '<call add>{"b": "x</call>\n<call add>{"a": 1}</call><end>',
        calls=[("add", {"b": "x"}), ("add", {"a": 1})],
        told=["malformed"],
        complete=False,
    ),
    "a string that quotes the format": Case(
        "json",
        '<call add>{"b": "x</call>\\n<call add>{\\"a\\": 1}</call><end>"}</call>',
        calls=[("add", {"b": 'x</call>\n<call add>{"a": 1}</call><end>'})],
    ),
    "an empty section": Case("opened", "Hm. <calls></calls>", content="Hm."),
    "a section with noise": Case(
        "opened",
        '<calls>so <call "add"><k>b</k><v>x</v></call></calls>',
        calls=[("add", {"b": "x"})],
        told=["unexpected_text"],
    ),
    "values without their opening tags": Case(
        "opened",
        '<calls><call "add"><k>b</k>x</v><k>a</k>\n1</v></call></calls>',
        calls=[("add", {"b": "x", "a": 1})],
        told=["missing_marker", "missing_marker"],
    ),
    "a value closed by the next argument": Case(
        "opened",
        '<calls><call "add"><k>b</k><v>x<k>a</k><v>1</v></call></calls>',
        calls=[("add", {"b": "x", "a": 1})],
        told=["missing_marker"],
    ),
    "an argument inside a value": Case(
        "opened",
        '<calls><call "add"><k>b</k><v>x<k>b</k><v>1</v></call></calls><end>',
        calls=[("add", {"b": "x<k>b</k><v>1"})],
    ),
    "a call inside a value": Case(
        "opened",
        '<calls><call "add"><k>b</k><v>x <calls><call "do"><k>q</k><v>1</v></call></calls> y</v>'
        "</call></calls><end>",
        calls=[("add", {"b": 'x <calls><call "do"><k>q</k><v>1</v></call></calls> y'})],
        told=["inner_marker"],
    ),
    "reasoning that ends in a quote, and content that begins with one": Case(
        "named lines", '<why>Say "a"</why>"a"<end>', content='"a"', reasoning='Say "a"'
    ),
    "what closes a mention that is in quotes": Case(
        "opened",
        "Write `<calls>` before, and </calls> behind.<end>",
        content="Write `<calls>` before, and </calls> behind.",
    ),
    "markers in quotes": Case(
        "opened",
        'Write `</calls>`, "<end>", or \'<call "do">\' and go on.\'<end>',
        content='Write `</calls>`, "<end>", or \'<call "do">\' and go on.\'',
    ),
    "two calls inside a value, behind each other": Case(
        "opened",
        '<calls><call "add"><k>b</k><v><call "do"><k>a</k><v>1</v><k>q</k><v>1</v></call></calls>'
        '<calls><call "do"><k>q</k><v>2</v></call></calls></v><k>a</k><v>3</v></call></calls><end>',
        calls=[
            (
                "add",
                {
                    "b": '<call "do"><k>a</k><v>1</v><k>q</k><v>1</v></call></calls>'
                    '<calls><call "do"><k>q</k><v>2</v></call></calls>',
                    "a": 3,
                },
            )
        ],
        told=["inner_marker"] * 3,
    ),
    "a value without its end before another call": Case(
        "opened",
        '<calls><call "add"><k>b</k><v>x<call "do"><k>q</k><v>1</v></call></calls><end>',
        calls=[("add", {"b": 'x<call "do"><k>q</k><v>1</v></call></calls>'})],
        told=["inner_marker", "cut_off"],
        complete=False,
    ),
    "a JSON object instead": Case(
        "opened",
        '<calls>{"name": "add", "arguments": {"a": 1}}</calls>',
        calls=[("add", {"a": 1})],
        told=["other_syntax"],
    ),
    "a JSON object in quotes of Python's": Case(
        "opened",
        "<calls>{'name': 'add', 'arguments': {'a': 1, 'b': 'it\\'s'}}</calls>",
        calls=[("add", {"a": 1, "b": "it's"})],
        told=["other_syntax"],
    ),
    "tags instead of an object": Case(
        "objects",
        "<call><f=add><p=a>1</p>\n<p=b>x</p></f></call>",
        calls=[("add", {"a": 1, "b": "x"})],
        told=["other_syntax"],
    ),
    "tags with the word name": Case(
        "objects",
        '<call><f name="add"><p name="b">x\n</p></f></call>.',
        content=".",
        calls=[("add", {"b": "x"})],
        told=["other_syntax", "misplaced"],
    ),
    "tags that are no call": Case(
        "objects",
        "<call><f=add>and so on</call>.",
        content="<call><f=add>and so on</call>.",
        told=["no_name"],
    ),
    "keys of APIs": Case(
        "objects",
        '<call>{"name": "add", "arguments": {"a": 1}}</call>',
        calls=[("add", {"a": 1})],
        told=["other_syntax", "other_syntax"],
    ),
    "a text without quotes": Case(
        "python",
        "<call>add(b=one, (or) two: three, a=1)</call>",
        calls=[("add", {"b": "one, (or) two: three", "a": 1})],
        told=["malformed"],
    ),
    "a text without quotes, up to the next line's key": Case(
        "lines of JSON",
        "<call add>\nb: one, two: three\nand four\na: 1\nc: so, no\n</call>",
        calls=[("add", {"b": "one, two: three\nand four", "a": 1, "c": "so, no"})],
        told=["malformed", "malformed"],
    ),
    "a text without quotes, up to the next option": Case(
        "options",
        "<calls>add --b=one, two --a=1</calls>",
        calls=[("add", {"b": "one, two", "a": 1})],
        told=["malformed"],
    ),
    "calls without arguments, apart by a sign": Case(
        "options",
        "<calls>add && add && add --a=1</calls>",
        calls=[("add", {}), ("add", {}), ("add", {"a": 1})],
    ),
    "a text without quotes, up to what opens a key": Case(
        "opened values",
        "<call add><k>b<v>one <k> two<k>a<v>1</call>",
        calls=[("add", {"b": "one <k> two", "a": 1})],
        told=["malformed"],
    ),
    "an escape of JSON in an object, and none in a literal": Case(
        "python",
        r"""<call>add(b={"x\/": ["1\/2", "\\/", '\/']}, c="\/", a=1)</call>""",
        calls=[("add", {"b": {"x/": ["1/2", r"\/", r"\/"]}, "c": r"\/", "a": 1})],
    ),
    "halves of a character, as escapes": Case(
        "python",
        r"""<call>add(b='\ud83d\ude00', o={"x": "\uD83D", 'y': '\U0000dE00'}, a=1)</call>""",
        calls=[("add", {"b": "\N{GRINNING FACE}", "o": {"x": "\ud83d", "y": "\ude00"}, "a": 1})],
    ),
    "halves of a character in a literal": Case(
        "objects",
        r"<call><f=add><p=o>{'\ud83d\ude00': ['\ud83d', ('\ude00',)]}</p></f></call>",
        calls=[("add", {"o": {"\N{GRINNING FACE}": ["\ud83d", ["\ude00"]]}})],
        told=["other_syntax"],
    ),
    "halves of a character in another notation": Case(
        "python",
        r"""<call>{"name": "add", "arguments": "{\"b\": \"\ud83d\"}"}</call>""",
        calls=[("add", {"b": "\ud83d"})],
        told=["other_syntax"],
    ),
    "a mere bracket before a tool's name": Case(
        "list",
        "[add(a=1), Add(b=2)]",
        calls=[("add", {"a": 1}), ("Add", {"b": 2})],
        told=["unknown_tool"],
    ),
    "a mere bracket before another name": Case(
        "list",
        "[add it(1)](link), [Note(a=1)](link)",
        content="[add it(1)](link), [Note(a=1)](link)",
    ),
    "a mere sign before a name that no tool has, or that nothing follows": Case(
        "one sign",
        '[1] one, [2] {"a": 1} and [add] two [add] {"a": 1} [/]',
        content='[1] one, [2] {"a": 1} and [add] two',
        calls=[("add", {"a": 1})],
    ),
    "a mere sign and a name, at the text's end": Case("one sign", "So [1]", content="So [1]"),
    "what is no argument": Case(
        "python",
        "<call>add(**more, a=1)</call>.",
        content=".",
        calls=[("add", {"a": 1})],
        told=["unexpected_text", "misplaced"],
        complete=False,
    ),
    "what only looks like an argument": Case(
        "python",
        "<call>add(a=1, (b =2)</call>",
        calls=[("add", {"a": 1})],
        told=["unexpected_text"],
        complete=False,
    ),
    "keys in quotes": Case(
        "python",
        "<call>add('b'='x', \"a\"=1)</call>",
        calls=[("add", {"b": "x", "a": 1})],
        told=["malformed", "malformed"],
    ),
    "a text without quotes, then a key in quotes": Case(
        "python",
        "<call>add(b= one two, 'a'=1)</call>",
        calls=[("add", {"b": "one two", "a": 1})],
        told=["malformed", "malformed"],
    ),
    "a text without quotes, and no end": Case(
        "python",
        "<call>add(b=one two</call>.",
        content=".",
        calls=[("add", {"b": "one two"})],
        told=["malformed", "malformed", "misplaced"],
    ),
    "a number, cut off": Case(
        "python", "<call>add(a=3)</ca", calls=[("add", {"a": 3})], told=["cut_off"], complete=False
    ),
    "a member once more": Case(
        "elements",
        "<call add><o><p>1</p><p>2</p></o></call>",
        calls=[("add", {"o": {"p": ["1", "2"]}})],
    ),
    "a key with entities": Case(
        "escaped",
        '<call add><k "x&amp;quot;&quot;&lt;">1</k><k "a">2</k></call>',
        calls=[("add", {'x&quot;"&lt;': "1", "a": 2})],
        told=["unknown_argument"],
    ),
    "values with entities": Case(
        "entities",
        "<call add><k b>a &lt;b> &amp;lt; R&D &lt</k><k a>[&lt;</k></call>",
        calls=[("add", {"b": "a <b> &lt; R&D &lt", "a": "[<"})],
        told=["wrong_type"],
        complete=False,
    ),
    "a guarded value with entities": Case(
        "entities", "<call add><k b><![CDATA[&lt;]]></k></call>", calls=[("add", {"b": "&lt;"})]
    ),
    "a value that is cut off in an entity": Case(
        "entities",
        "<call add><k b>R&amp;D &am",
        calls=[("add", {"b": "R&D "})],
        told=["cut_off"],
        complete=False,
    ),
    "another call that looks like an argument": Case(
        "nothing behind a call",
        '<calls>do: add\na: 1\ndo: add\ndo: add\nb: "x"\n</calls><end>',
        calls=[("add", {"a": 1}), ("add", {}), ("add", {"b": "x"})],
    ),
    "a value that ends in a carriage return": Case(
        "lines",
        "<call add><b>\nx\r\n</b><c>\ny\r</c><d>\n\r\r\n</d></call>",
        calls=[("add", {"b": "x", "c": "y\r", "d": "\r"})],
        told=["wrong_type", "unknown_argument"],
        complete=False,
    ),
    "JSON arguments instead": Case(
        "opened",
        '<calls><call "add">{"a": 1}</call></calls>',
        calls=[("add", {"a": 1})],
        told=["other_syntax"],
    ),
    "a call that closes itself": Case(
        "opened", '<calls><call "add"/></calls>', calls=[("add", {})], told=["no_arguments"]
    ),
    "a call without what holds arguments": Case(
        "empty calls",
        'So<call><do>add</do></call><call><do>add</do><with>{"a": 1}</with></call><end>',
        content="So",
        calls=[("add", {}), ("add", {"a": 1})],
    ),
    "a call that breaks off before what holds arguments": Case(
        "empty calls", "<call><do>add</do><", told=["cut_off"]
    ),
    "an object without a member for arguments": Case(
        "empty objects",
        '<call>{"do": "add"}</call><call>{"do": "add", "with": {"a": 1}}</call><end>',
        calls=[("add", {}), ("add", {"a": 1})],
    ),
    "an object that breaks off without one": Case(
        "empty objects",
        '<call>{"do": "add"',
        calls=[("add", {})],
        told=["cut_off", "no_arguments"],
        complete=False,
    ),
    "a quoted opening, and both its closes": Case(
        "opened",
        "Write <calls> and <call>, </call> and </calls>.",
        content="Write <calls> and <call>, </call> and </calls>.",
    ),
    "a key with blanks": Case(
        "section", "<calls>[add(b:{to go:1})]</calls>", calls=[("add", {"b": {"to go": 1}})]
    ),
    "a call that lacks its tag": Case(
        "brackets",
        "<call>do:add{a:1}do:add{b:~~q~~x~~q~~}</call>",
        calls=[("add", {"a": 1}), ("add", {"b": "x"})],
        told=["missing_marker"],
    ),
    "a section": Case(
        "section",
        "<calls>[add(a:1), add(b:~~q~~x, y~~q~~,c:[1,2])]</calls>",
        calls=[("add", {"a": 1}), ("add", {"b": "x, y", "c": [1, 2]})],
    ),
    "a section that is cut off": Case(
        "section", "<calls>[add(a:1), ad", calls=[("add", {"a": 1})], told=["cut_off"]
    ),
    "a key with signs": Case(
        "tags",
        "<call add><a;b>x</a;b></call>",
        calls=[("add", {"a;b": "x"})],
        told=["unknown_argument"],
    ),
    "an argument begun twice": Case(
        "array",
        "<call add><arg <arg b>x</arg></call>",
        calls=[("add", {"b": "x"})],
        told=["unexpected_text"],
        complete=False,
    ),
    "an argument without a value": Case(
        "python",
        "<call>add(a=, b='x')</call>",
        calls=[("add", {"a": None, "b": "x"})],
        told=["malformed"],
        complete=False,
    ),
    "a string of broken arguments": Case(
        "json",
        '<call add>"{\\"a\\": 1"</call>',
        calls=[("add", {"a": 1})],
        told=["string_arguments"],
        complete=False,
    ),
    "a comma left out": Case(
        "json",
        '<call add>{"a": 1 "b": "x"}</call>',
        calls=[("add", {"a": 1, "b": "x"})],
        told=["malformed"],
    ),
    "a method": Case("code", "<run>add.call(a=1, b='x')<end>", calls=[("add", {"a": 1, "b": "x"})]),
    "a call closed too often": Case("objects", "a</call>b", content="ab", told=["stray_marker"]),
    "text between elements": Case(
        "elements",
        "<call add><c><item>1</item> oops <item>2</item></c></call>",
        calls=[("add", {"c": [1, 2]})],
        told=["unexpected_text"],
        complete=False,
    ),
    "what opens reasoning, at the end": Case(
        "comments", "#|a #|", reasoning="a", told=["repeated", "unclosed"]
    ),
    "a section's end that looks like a call": Case(
        "comments", '<calls><add>{"a": 1}</add></calls><end>', calls=[("add", {"a": 1})]
    ),
    "a separator in a section": Case(
        "comments",
        '<calls><add>{"a": 1}</add> -next- <add>{}</add></calls><end>',
        calls=[("add", {"a": 1}), ("add", {})],
    ),
    "a key right behind the head": Case(
        "keys", '<call add\nb: "x"\na: 1\n</call><end>', calls=[("add", {"b": "x", "a": 1})]
    ),
    "content behind a call, begun with what could be noise": Case(
        "last", "<call add<k>b<s>x</call><say>`a`<end>", content="`a`", calls=[("add", {"b": "x"})]
    ),
    "an argument behind one that is no string": Case(
        "last",
        "<call add<k>c<j>[1]<k>z<s>x</call><end>",
        calls=[("add", {"c": [1], "z": "x"})],
        told=["unknown_argument"],
    ),
    "a call whose opening is misspelt": Case(
        "separated",
        '<cals>{"do": "add", "with": {"a": 1}}</cals><end>',
        calls=[("add", {"a": 1})],
        told=["missing_marker", "stray_marker"],
    ),
    "a call whose opening is left out": Case(
        "separated",
        ' [{"do": "add", "with": {"a": 1}}, {"do": "sub", "with": {}}]<end>',
        calls=[("add", {"a": 1}), ("sub", {})],
        told=["missing_marker", "array", "unknown_tool"],
    ),
    "a call without its opening behind text": Case(
        "separated",
        'So: [{"do": "add", "with": {"a": 1}}]<end>',
        content='So: [{"do": "add", "with": {"a": 1}}]',
        told=["no_name"],
    ),
    "what has a tool's name and no arguments, without an opening": Case(
        "separated",
        '[{"do": "add", "since": 1}]<end>',
        content='[{"do": "add", "since": 1}]',
    ),
    "a call of several whose opening is misspelt": Case(
        "separated",
        '<calls{"do": "add", "with": {"a": 1}}]',
        content='<calls{"do": "add", "with": {"a": 1}}]',
        told=["no_name"],
    ),
    "a call whose name's key is misspelt": Case(
        "bare",
        '{"od": "add", "with": {"a": 1}}<end>',
        content='{"od": "add", "with": {"a": 1}}',
        told=["no_name"],
    ),
    "a call in a sentence": Case(
        "separated",
        'That is {"do": "add", "with": {"a": 1}}, in short.<end>',
        content='That is {"do": "add", "with": {"a": 1}}, in short.',
    ),
    "a fence around JSON that names no tool": Case(
        "fences of JSON",
        'So:\n```json\n[{"do": "Bob", "with": {}}]\n```\nor '
        '```json\n[{"do": "add", "with": {}}]\n```',
        content='So:\n```json\n[{"do": "Bob", "with": {}}]\n```\nor',
        calls=[("add", {})],
    ),
    "a call in a fence": Case(
        "separated",
        '```\n{"do": "add", "with": {"a": 1}}\n```<end>',
        calls=[("add", {"a": 1})],
        told=["missing_marker", "stray_marker"],
    ),
    "a call in a fence, after text": Case(
        "separated",
        'So:\n```\n{"do": "add", "with": {"a": 1}}\n```<end>',
        content='So:\n```\n{"do": "add", "with": {"a": 1}}\n```',
    ),
    "what ends as a call does, of no tool": Case(
        "separated",
        '{"do": "sub", "with": {"a": 1}}<end>',
        content='{"do": "sub", "with": {"a": 1}}',
    ),
    "what is no call, and has a tool's name": Case(
        "separated", 'I add {"a": 1}<end>', content='I add {"a": 1}'
    ),
    "a call's opening and its own beginning, twice": Case(
        "opened",
        '<calls><call "<calls><call "add"><k>b</k><v>x</v></call></calls><end>',
        calls=[("add", {"b": "x"})],
        told=["repeated"],
    ),
    "an array's opening twice": Case(
        "separated",
        '<calls>[<calls>[{"do": "add", "with": {"a": 1}}]</calls><end>',
        calls=[("add", {"a": 1})],
        told=["repeated", "array"],
    ),
    "arguments that are cut off": Case(
        "objects",
        '<call>{"do": "add", "with": {"b": "x',
        calls=[("add", {"b": "x"})],
        told=["cut_off"],
        complete=False,
    ),
    "a member behind the arguments that is cut off": Case(
        "objects",
        '<call>{"do": "add", "with": {"a": 1}, "more": [2',
        calls=[("add", {"a": 1})],
        told=["extra_field", "cut_off"],
        complete=False,
    ),
    "code": Case(
        "code",
        "Look:<run>print(1)\n<end>",
        content="Look:",
        calls=[("python", {"code": "print(1)"})],
        told=["unknown_tool"],
    ),
    "a mark misspelt at a string's end": Case(
        "tags",
        "<call add><b>x;b></call>",
        calls=[("add", {"b": "x;b>"})],
        told=["missing_marker"],
        complete=False,
    ),
    "an opening right before a word": Case(
        "nothing behind a call",
        "Write <calls>so.",
        content="Write <calls>so.",
        told=["no_name"],
    ),
    "an opening between words": Case(
        "nothing behind a call", "Write <calls> for it.", content="Write <calls> for it."
    ),
    "an object's end left out, before text": Case(
        "bare tokens",
        '{"do": "add", "with": {}so',
        content="so",
        calls=[("add", {})],
        told=["malformed", "misplaced"],
        complete=False,
    ),
    "a string that begins again behind what looks like a call": Case(
        "python",
        "<call>add(b='x\n<call>add'y')</call>",
        calls=[("add", {"b": "x\n<call>add'y"})],
        told=["malformed"],
    ),
    "a key without a value, and an end": Case(
        "thoughts",
        '<call>add{"a":</call>',
        calls=[("add", {})],
        told=["missing_marker", "malformed"],
        complete=False,
    ),
    "two openings of an element, one of them closed": Case(
        "elements",
        "<call add><o><p>1<p>p></o></call>",
        calls=[("add", {"o": {"p": "1<p>p>"}})],
        told=["missing_marker"],
        complete=False,
    ),
    "an element of an array that is misspelt": Case(
        "elements",
        "<call add><c><item>1</item><itaem>2</item></c></call>",
        calls=[("add", {"c": [1, "2</item>"]})],
        told=["malformed", "missing_marker", "wrong_type"],
        complete=False,
    ),
    "a comma after a line's call": Case(
        "named lines",
        'add{"a": 1},\nSo',
        content=",\nSo",
        calls=[("add", {"a": 1})],
        told=["misplaced"],
        complete=False,
    ),
    "an id that a client has written anew, with a tool's name in it": Case(
        "ids", '<call functions_add_2>{"a": 1}</call>', calls=[("add", {"a": 1})]
    ),
    "what closes calls behind a quote that closes nothing": Case(
        "tag in a tag",
        '<call>\nadd b="x"</call>',
        content='<call>\nadd b="x"</call>',
        told=["no_name"],
    ),
    "a head without its last sign": Case(
        "tag in a tag",
        '<call>\n<do=add\n{"a": 1}</do>\n</call>',
        calls=[("add", {"a": 1})],
        told=["missing_marker"],
    ),
    "a name, and what closes a value": Case(
        "opened", '<calls><call "add"></v><end>', calls=[("add", {})], told=["no_arguments"]
    ),
    "a backslash that escapes nothing in an array": Case(
        "lines",
        '<call add><c>\n["\\033[0m", "\\n"]\n</c></call>',
        calls=[("add", {"c": ["\\033[0m", "\n"]})],
    ),
}


def case_failures(form: FormatModule, case: Case) -> Iterator[str]:
    """Yield how what is read differs from what a case wants, and pieces from the whole text."""
    name, text, content, reasoning, calls, told, complete = case
    message = form.parse(text, tools=TOOLS)
    found = [(call.name, json.loads(call.arguments)) for call in message.tool_calls]
    pairs: list[tuple[str, Any, Any]] = [
        ("content", content, message.content),
        ("reasoning", reasoning, message.reasoning_content),
        ("calls", [*calls], found),
        ("problems", [*told], [problem.kind for problem in message.problems]),
        ("complete", complete, all(call.complete for call in message.tool_calls)),
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
        over = f"{text}{prompt}" if prompt and text.endswith("<end>") else prompt
        if prompt and form.parse("x", prefill=over) != form.parse("x", prefill=prompt):
            yield f"the {key} isn't taken behind a turn that is over"
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
    # A prompt is read from its last header on.
    header = form.FORMAT["header"]
    longest = text.find(header) + len(header) - 1 if header and header in text else len(text)
    for cut in range(longest + 1):
        options = {"tools": TOOLS, "prefill": text[:cut]}
        echoed = form.parse(text[cut:], echo=True, **options)
        if summary(echoed) != summary(whole):
            yield f"echoed behind {text[:cut]!r}: {echoed!r}"
        _, events = stream(form, [text[cut:]], **options)
        if any(event.type == "tool_call_delta" and not event.arguments for event in events):
            yield f"an empty delta behind {text[:cut]!r}"
    forgotten = form.parse("", tools=TOOLS, prefill=text[:longest])
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
