"""Calls as other formats write them, as a JSON object or Python's code, say."""

from __future__ import annotations

import re

from turnspec.engine.facts import READS_TAGS
from turnspec.engine.json_texts import apart, dump_json, load_json
from turnspec.engine.literals import join_halves, literal_as_json
from turnspec.engine.markers import WHITE_SPACE
from turnspec.engine.tools import is_list, is_mapping, object_in
from turnspec.engine.types import as_json, json_types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeAlias

    #: The schemas of tools' arguments, by the tools' names.
    Tools: TypeAlias = Mapping[str, Mapping[str, Any]]

OtherCall = tuple[str, str, str]  # its name and arguments, and what is wrong with it
CALLED = r"[ \t\n\r]*NAME[ \t\n\r]*(?:\(|(?P<more>\[[^{} \n]*\])|```(?:json)?)?"
TAG = r"""[ \t\n\r]*<(?P<tag>[A-Za-z0-9_:-]+)(?: name)? ?= ?["']?(?P<key>[^<>"']{1,256})["']? ?>"""
ARGUMENT_TAG = rf"{TAG}\n?(?P<value>[\s\S]*?)\n?</(?P=tag)>"
CLOSING_TAG = r"(?:[ \t\n\r]*</[A-Za-z0-9_:-]+>)*[ \t\n\r]*"


def other_calls(text: str, names: str, tools: Tools) -> list[OtherCall]:
    """Return the calls that a text is; none if it is something else. `names` fits all names."""
    calls: list[OtherCall | None] = [call_in_object(it) for it in objects_in(text)]
    if READS_TAGS and not calls:
        calls = [call_in_tags(text, tools)]
    if not any(calls):
        head = re.match(CALLED.replace("NAME", names), text)
        rest = text[head.end() :].rstrip(f"{WHITE_SPACE}`]") if head else ""
        given = literal_as_json(f"_({rest}")
        only = objects_in(re.sub(r"\)\Z", "", rest))
        inner: OtherCall | None = None
        if not given and len(only) == 1 and is_mapping(only[0]):
            given = join_halves(dump_json(only[0]))
            inner = call_in_object(only[0]) if "arguments" in only[0] else None
        if head and inner and (head["name"] == inner[0] or head["name"] not in tools):
            calls = [(inner[0], inner[1], f"{inner[2]} after {head['name']!r}")]
        elif head and given:
            calls = [(head["name"], given, f"the call is code{head['more'] or ''}")]
    kept = [it for it in calls if it and (re.fullmatch(names, it[0]) or it[0] in tools)]
    return kept if len(kept) == len(calls) else []


def objects_in(text: str) -> Sequence[Any]:
    """Return a text's values, in JSON or Python: one, or several behind commas or in lines."""
    text = re.sub(r"^json", "", text.strip(f"{WHITE_SPACE}`;"))
    for is_python in (False, True):
        for it in (text, text.replace("\n", "\\n"), f"[{text}]".replace("}\n{", "},{")):
            try:
                value = load_json(literal_as_json(it) or "" if is_python else it, apart)
            except ValueError:
                continue
            return value if is_list(value) else [value]
    return []


def call_in_object(value: Any) -> OtherCall | None:
    """Return the call that a JSON object is; what else that holds is told."""
    is_wrapped = is_mapping(value) and is_mapping(value.get("function"))
    members = value["function"] if is_wrapped else value
    name = members.get("name", members.get("function")) if is_mapping(members) else None
    if not isinstance(name, str) or not name:
        return None
    given = [key for key in ("arguments", "parameters") if key in members]
    given = given or [key for key in members if is_mapping(members[key])]
    arguments: Any = members[given[0]] if given else {}
    others = [members[key] for key in members if key not in ("name", *given[:1])]
    others += [value[key] for key in value if key not in ("function",)] if is_wrapped else []
    text = arguments if isinstance(arguments, str) else dump_json(arguments)
    is_more = any(other != "function" for other in others)
    told = f": {join_halves(dump_json(value))}" if is_more else ""
    return name, join_halves(text), f"the call is an object{told}"


def call_in_tags(text: str, tools: Tools) -> OtherCall | None:
    """Return the call that a tag is, with tags for its arguments."""
    head = re.match(TAG, text)
    if head is None:
        return None
    parameters = tools.get(head["key"], {})
    properties = object_in(parameters, "properties")
    members: list[str] = []
    at, argument = head.end(), re.compile(ARGUMENT_TAG)
    while inner := argument.match(text, at):
        key, value, at = inner["key"], inner["value"], inner.end()
        types = json_types(properties.get(key), parameters)
        json = as_json(value, types, python=True) or dump_json(value)
        members.append(f"{dump_json(key)}: {json}")
    given, body = f"{{{', '.join(members)}}}", text[at:].split("</")[0]
    if not members and (whole := as_json(body, {"object"}, python=True)):
        given, at = whole, at + len(body)
    call: OtherCall = head["key"], given, "the call is tags"
    return call if re.compile(CLOSING_TAG).fullmatch(text, at) else None
