"""What a prompt asks for and no rendering shows: where no overlay says it either, it is a limit.

A model obeys its instructions. An example of a call in them is written as a turn, and the format's
own parser has to read it; what it lacks of the rendering's markers is no other way to call.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from turnspec.analysis.call_examples import find_call_example
from turnspec.analysis.instructions import tool_instructions
from turnspec.analysis.overlay_draft import draft_overlay
from turnspec.analysis.source import TemplateSource
from turnspec.codegen.loading import load
from turnspec.codegen.writer import write_calls, write_parts
from turnspec.rendering.conversation import Chat, tool_definitions
from turnspec.spec.calls import Tools
from turnspec.spec.message import Message
from turnspec.spec.model import Limit, Spec
from turnspec.spec.words import Condition, Part, Subject, Verdict
from turnspec.spec.yaml_text import quoted
from turnspec.verification.messages import allowed_call
from turnspec.verification.quoted_calls import CALL, prefill

_UNSAID = "the prompt asks for what no rendering shows; an overlay can say it"
#: By the first step of a key that an overlay's draft has.
_SUBJECTS = {"tools": Subject.CALLS, "alternatives": Subject.CONTENT}


def with_told_limits(spec: Spec, source: TemplateSource, chat: Chat) -> Spec:
    """Return a spec that says what its prompt asks for otherwise; ``chat`` has no settings."""
    draft = draft_overlay(spec, source, chat)
    keys = [key.partition(".")[0] for key in draft.keys] if draft else []
    told = {_SUBJECTS.get(key, Subject.REASONING): _UNSAID for key in keys}
    other = next(_other_calls(spec, chat), None)
    if other is not None:
        told[Subject.CALLS] = other
    limits = [Limit(it, Verdict.TOLD, Condition.ALWAYS, why) for it, why in told.items()]
    return replace(spec, limits=(*spec.limits, *limits))


def _other_calls(spec: Spec, chat: Chat) -> Iterator[str]:
    """Yield why calls are told otherwise than they are rendered, setting by setting."""
    said = tool_instructions(chat) if spec.tools else []
    for setting in dict.fromkeys(one.setting for one in said):
        found = find_call_example([one for one in said if one.setting == setting])
        if found is not None and not _is_read(spec, found[0].tools):
            # Our own call, written so: no words of the prompt.
            written = quoted(_written(spec, found[0].tools))
            yield f"with {found[1].setting} the prompt may be taken to ask for {written}"


def _written(spec: Spec, tools: Tools) -> str:
    calls = write_calls(tools, (allowed_call(spec, CALL),))
    return tools.section_start + calls + tools.section_end


def _is_read(spec: Spec, told: Tools) -> bool:
    """Tell whether a call as told is one as rendered, or is read as that and nothing else."""
    assert spec.tools
    if spec.tools.fields.name and spec.tools.fields.name == told.fields.arguments:
        return True  # placeholders don't say which of the keys is the name's
    as_rendered, as_told = ("".join(_written(spec, t).split()) for t in (spec.tools, told))
    if as_told in as_rendered:
        return True
    call = allowed_call(spec, CALL)
    turn = write_parts(replace(spec, tools=told), Message(calls=(call,)), Part.START)
    message = load(spec).parse(turn, tools=tool_definitions((call,)), prefill=prefill(spec))
    found = [(read.name, json.loads(read.arguments)) for read in message.tool_calls]
    return found == [(call.name, dict(call.arguments))] and not message.content
