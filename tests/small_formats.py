"""Formats written by hand, one for each way to write calls, as small as can be."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from tests.parser_formats import make_spec, native, pieces, tagged, tagged_json
from tests.specs_for_tests import channels_spec, two_prompts
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load
from turnspec.spec.calls import Guard, Tools, ValueSyntax
from turnspec.spec.model import Alternatives, CodeCall, End, Limit, OtherMarks, Spec, Tokenizer
from turnspec.spec.words import Condition, Encoding, JsonType, Part, ReasoningMode, Subject, Verdict

_ORDER = (Part.REASONING, Part.CONTENT, Part.CALLS)


def a_format(
    tools: Tools | None = None,
    reasoning: tuple[str, str] = ("", ""),
    content: tuple[str, str] = ("", ""),
    *,
    end: str = "<end>",
    order: tuple[Part, ...] = _ORDER,
    **changes: Any,
) -> Spec:
    """Return a format whose turns begin with nothing, and end in the same way behind all parts."""
    mode = ReasoningMode.TAG_BASED if any(reasoning) else ReasoningMode.NONE
    spec = make_spec(
        "hand",
        tools,
        reasoning=(mode, *reasoning),
        content=content,
        order=order,
        ends=tuple(End(part, end, end) for part in (Part.START, *_ORDER)),
        stop=(end,),
        header="",
    )
    return replace(spec, **{"limits": (), **changes})


def _objects(call: str, section: tuple[str, str] = ("", ""), **more: Any) -> Tools:
    keys = {"name": () if "name_is_key" in more else ("do",), "arguments": ("with",), **more}
    return native(call, section=section, separator="<next>" if section[0] else "", **keys)


_WHY, _CALLS = ("<why>", "</why>"), ("<calls>", "</calls>")
_OBJECT = '{"do": "⟨NAME⟩", "with": ⟨ARGUMENTS⟩}'
_CALL = "<call ⟨NAME⟩>⟨ARGUMENTS⟩</call>"
_HEAD = tagged_json(_CALL)
_PYTHON: dict[str, Any] = {
    "item": "⟨KEY⟩=⟨VALUE⟩",
    "item_separator": ", ",
    "string": Encoding.PYTHON,
    "other": Encoding.PYTHON,
}
_TYPES = dict.fromkeys(JsonType, "j") | {JsonType.STRING: "s"}
_CHANNELS = channels_spec()
_NAMED_TWICE = replace(
    _CHANNELS,
    reasoning=replace(_CHANNELS.reasoning, start=" to=self<|message|>"),
    content=replace(_CHANNELS.content, start=" to=user<|message|>"),
    tools=tagged_json(" to=⟨NAME⟩<|message|><do ⟨NAME⟩>⟨ARGUMENTS⟩</do>"),
)
_ID_ALONE = Limit(Subject.CALL_ID, Verdict.DROPS, Condition.ALWAYS, "it holds the name")

FORMATS: dict[str, Spec] = {
    "text": a_format(None, _WHY, order=_ORDER[:2], thinking=two_prompts("", "<why>")),
    "objects": a_format(_objects(f"<call>{_OBJECT}</call>")),
    "separated": a_format(_objects(_OBJECT, _CALLS)),
    "bare": a_format(_objects('{"do": "⟨NAME⟩", "with": ⟨ARGUMENTS⟩, "as": "⟨ID⟩"}', id=("as",))),
    "calls alone": a_format(
        _objects(_OBJECT), capabilities=replace(_CHANNELS.capabilities, content_beside_calls=False)
    ),
    "json": a_format(_HEAD),
    "bare in an object": a_format(
        _objects(_OBJECT, ('{"calls": [', "]}")), order=_ORDER[1:], end="\n<end>\n"
    ),
    "tag in a tag": a_format(tagged_json("<call>\n<do=⟨NAME⟩>⟨ARGUMENTS⟩</do>\n</call>")),
    "one end": a_format(
        tagged_json("[tool ⟨NAME⟩]⟨ARGUMENTS⟩[/]"), ("[why]", "[/]"), ("[say]", "[/]")
    ),
    "tokens": a_format(
        _HEAD,
        _WHY,
        alternatives=Alternatives(marks=(OtherMarks(Part.CONTENT, pieces("[a]"), "[/a]"),)),
        tokenizer=Tokenizer("", ("<s>", "<pad>"), ("</s>",)),
    ),
    "bare tokens": a_format(
        _objects(_OBJECT), order=_ORDER[1:], tokenizer=Tokenizer("", ("<s>",), ("</s>",))
    ),
    "ids": a_format(_HEAD, limits=(_ID_ALONE,)),
    "name last": a_format(tagged_json("<with>⟨ARGUMENTS⟩<do>⟨NAME⟩</call>")),
    "addressed": _CHANNELS,
    "addressed, and named": _NAMED_TWICE,
    "named by keys": a_format(
        _objects(
            '{"⟨NAME⟩": ⟨ARGUMENTS⟩}', ("<calls>[", "]</calls>"), arguments=(), name_is_key=True
        )
    ),
    "thoughts": a_format(
        tagged_json("<call>⟨NAME⟩<with>⟨ARGUMENTS⟩</call>"),
        ("<|w>thought", "</why>"),
        alternatives=Alternatives(marks=(OtherMarks(Part.REASONING, pieces("<why>")),)),
    ),
    "one sign": a_format(tagged_json("[⟨NAME⟩] ⟨ARGUMENTS⟩ [/]")),
    "empty calls": a_format(
        replace(
            tagged_json("<call><do>⟨NAME⟩</do><with>⟨ARGUMENTS⟩</with></call>"),
            empty_call=pieces("<call><do>⟨NAME⟩</do></call>"),
        )
    ),
    "empty objects": a_format(
        replace(
            _objects(f"<call>{_OBJECT}</call>"), empty_call=pieces('<call>{"do": "⟨NAME⟩"}</call>')
        )
    ),
    "named lines": a_format(tagged_json("⟨NAME⟩⟨ARGUMENTS⟩"), _WHY),
    "named lines of values": a_format(tagged("⟨NAME⟩(⟨ARGUMENTS⟩)", separator="", **_PYTHON)),
    "keyed lines": a_format(tagged(_CALL, "⟨KEY⟩ (⟨TYPE⟩):⟨VALUE⟩\n", types=_TYPES)),
    "fences": a_format(_objects(f"```do\n{_OBJECT}\n```")),
    "fences of JSON": a_format(_objects(_OBJECT, ("```json\n[", "]\n```"))),
    "opened": a_format(
        tagged('<call "⟨NAME⟩">⟨ARGUMENTS⟩</call>', "<k>⟨KEY⟩</k><v>⟨VALUE⟩</v>", section=_CALLS)
    ),
    "tail": a_format(tagged_json("<call ⟨NAME⟩>⟨ARGUMENTS⟩ #⟨ID⟩</call>")),
    "python": a_format(tagged("<call>⟨NAME⟩(⟨ARGUMENTS⟩)</call>", **_PYTHON)),
    "tags": a_format(tagged(_CALL, "<⟨KEY⟩>⟨VALUE⟩</⟨KEY⟩>", other=Encoding.PYTHON)),
    "elements": a_format(
        tagged(
            _CALL,
            "<⟨KEY⟩>⟨VALUE⟩</⟨KEY⟩>",
            elements=("<⟨KEY⟩>⟨VALUE⟩</⟨KEY⟩>", "<item>⟨VALUE⟩</item>", ""),
        )
    ),
    "array": a_format(
        tagged(
            _CALL,
            "<arg ⟨KEY⟩>⟨VALUE⟩</arg>",
            elements=("<m ⟨KEY⟩>⟨VALUE⟩</m>", "<e>⟨VALUE⟩</e>", ""),
        )
    ),
    "lines": a_format(tagged(_CALL, "<⟨KEY⟩>\n⟨VALUE⟩\n</⟨KEY⟩>")),
    "escaped": a_format(
        tagged(_CALL, '<k "⟨KEY⟩">⟨VALUE⟩</k>', escapes={"&": "&amp;", '"': "&quot;"})
    ),
    "entities": a_format(
        tagged(
            _CALL,
            "<k ⟨KEY⟩>⟨VALUE⟩</k>",
            guard=Guard("<![CDATA[", "]]>"),
            value_escapes={"<": "&lt;", "&": "&amp;"},
        )
    ),
    "nothing behind a call": a_format(
        tagged(
            "do: ⟨NAME⟩\n⟨ARGUMENTS⟩",
            "⟨KEY⟩: ⟨VALUE⟩",
            item_separator="\n",
            section=_CALLS,
            string=Encoding.JSON,
            end="\n",
        )
    ),
    "lines of JSON": a_format(
        tagged(
            "<call ⟨NAME⟩>\n⟨ARGUMENTS⟩</call>",
            "⟨KEY⟩: ⟨VALUE⟩",
            item_separator="\n",
            string=Encoding.JSON,
            end="\n",
        )
    ),
    "options": a_format(
        tagged(
            "⟨NAME⟩⟨ARGUMENTS⟩",
            "--⟨KEY⟩=⟨VALUE⟩",
            item_separator=" ",
            section=_CALLS,
            separator=" && ",
            string=Encoding.JSON,
            start=" ",
        )
    ),
    "opened values": a_format(tagged(_CALL, "<k>⟨KEY⟩<v>⟨VALUE⟩", string=Encoding.JSON)),
    "section": a_format(
        tagged(
            "⟨NAME⟩(⟨ARGUMENTS⟩)",
            "⟨KEY⟩:⟨VALUE⟩",
            item_separator=",",
            section=("<calls>[", "]</calls>"),
            separator=", ",
            string=Encoding.QUOTED,
            other=Encoding.QUOTED,
            syntax=ValueSyntax(quote="~~q~~"),
        )
    ),
    "brackets": a_format(
        tagged(
            "<call>do:⟨NAME⟩{⟨ARGUMENTS⟩}</call>",
            "⟨KEY⟩:⟨VALUE⟩",
            item_separator=",",
            string=Encoding.QUOTED,
            other=Encoding.QUOTED,
            syntax=ValueSyntax(quote="~~q~~"),
        )
    ),
    "raw texts": a_format(
        tagged(
            "<call>⟨NAME⟩(⟨ARGUMENTS⟩)</call>",
            "⟨KEY⟩=⟨VALUE⟩",
            item_separator=", ",
            string=Encoding.QUOTED,
            other=Encoding.JSON,
            syntax=ValueSyntax(quote='"'),
        )
    ),
    "raw texts in a row": a_format(
        tagged(
            "<call>⟨NAME⟩[⟨ARGUMENTS⟩]</call>",
            "⟨KEY⟩: ⟨VALUE⟩",
            item_separator=" ",
            string=Encoding.QUOTED,
            other=Encoding.JSON,
            syntax=ValueSyntax(quote='"'),
        )
    ),
    "named tags": a_format(
        tagged("<⟨NAME⟩>⟨ARGUMENTS⟩</⟨NAME⟩>", "<p=⟨KEY⟩>⟨VALUE⟩</p>", section=_CALLS)
    ),
    "named tags of pairs": a_format(
        tagged("<⟨NAME⟩>⟨ARGUMENTS⟩</⟨NAME⟩>", "<k>⟨KEY⟩</k><v>⟨VALUE⟩</v>", section=_CALLS)
    ),
    "attributes of pairs": a_format(
        tagged('<call of="⟨NAME⟩">⟨ARGUMENTS⟩</call>', "<k>⟨KEY⟩</k><v>⟨VALUE⟩</v>")
    ),
    "named tags of JSON": a_format(
        tagged(
            "<⟨NAME⟩>⟨ARGUMENTS⟩</⟨NAME⟩>",
            '<p of="⟨KEY⟩">⟨VALUE⟩</p>',
            section=_CALLS,
            separator=", ",
            string=Encoding.JSON,
        )
    ),
    "lines of elements": a_format(
        tagged(
            _CALL,
            "<⟨KEY⟩>\n⟨VALUE⟩\n</⟨KEY⟩>\n",
            elements=("<⟨KEY⟩>\n⟨VALUE⟩\n</⟨KEY⟩>", "<item>⟨VALUE⟩</item>", "\n"),
        )
    ),
    "members like arguments": a_format(
        tagged(
            _CALL,
            "<p ⟨KEY⟩>⟨VALUE⟩</p>",
            elements=("<p ⟨KEY⟩>⟨VALUE⟩</p>", "<item>⟨VALUE⟩</item>", ""),
            separator=", ",
        )
    ),
    "thoughts of objects": a_format(_objects(_OBJECT), _WHY),
    "list": a_format(
        tagged("⟨NAME⟩(⟨ARGUMENTS⟩)", section=("[", "]"), separator=", ", **_PYTHON),
        order=(Part.CALLS, Part.CONTENT),
    ),
    "comments": a_format(
        tagged_json("<⟨NAME⟩>⟨ARGUMENTS⟩</⟨NAME⟩>", section=_CALLS, separator="-next-"),
        ("#|", "|#"),
    ),
    "keys": a_format(
        tagged("<call ⟨NAME⟩\n⟨ARGUMENTS⟩</call>", "⟨KEY⟩: ⟨VALUE⟩\n", string=Encoding.JSON)
    ),
    "last": a_format(
        tagged("<call ⟨NAME⟩⟨ARGUMENTS⟩</call>", "<k>⟨KEY⟩<⟨TYPE⟩>⟨VALUE⟩", types=_TYPES),
        content=("<say>", ""),
        order=(Part.REASONING, Part.CALLS, Part.CONTENT),
    ),
    "code": a_format(
        _HEAD, alternatives=Alternatives(code=CodeCall("<run>", "python", "code", "call"))
    ),
}


@cache
def small_format(name: str) -> FormatModule:
    """Return one of them in memory."""
    return load(FORMATS[name])
