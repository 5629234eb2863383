"""Versions of a spec's form: older ones are read, newer ones are refused by name.

Version 1 had no ``spec_version``. Its ``thinking`` had the variables that switch it under ``on``
and ``off``, words that YAML 1.1 reads as booleans, and the prompts under ``prompt_on`` and
``prompt_off``. What the template does by itself was no state of its own: it is the one of the two
that needs neither variables nor a word in a message.
"""

from __future__ import annotations

from collections.abc import Mapping

from turnspec.spec.yaml_document import Document

SPEC_VERSION = 2

#: What the words of version 1 are called now.
_SWITCHES = {"on": "enabled", "off": "disabled"}
_OLD_KEYS = {*_SWITCHES, *(f"prompt_{word}" for word in _SWITCHES)}


def version_problem(data: object) -> str | None:
    """Return what is wrong with the version that a spec's data says it has, or None."""
    version = data.get("spec_version", 1) if isinstance(data, Mapping) else SPEC_VERSION
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        return f"not a version: {version!r}; this turnspec writes {SPEC_VERSION}"
    if version > SPEC_VERSION:
        return f"{version} is newer than this turnspec, which reads up to {SPEC_VERSION}; update it"
    return None


def upgraded(document: Document) -> Document:
    """Return a spec's document in today's form; what isn't of an older form comes back as it is."""
    data = document.data
    if not isinstance(data, Mapping) or data.get("spec_version", 1) != 1:
        return document
    data = {**data, "spec_version": SPEC_VERSION}
    thinking = data.get("thinking")
    if isinstance(thinking, Mapping) and {*thinking} >= _OLD_KEYS:
        data["thinking"] = _states(thinking)
    return Document(data, document.lines)


def _states(old: Mapping[str, object]) -> dict[str, object]:
    """Return the thinking of version 1 as states."""
    words = old.get("words")
    given = words if isinstance(words, list) else []
    prompts = [word.get("prompt") for word in given if isinstance(word, Mapping)]
    needs_word = old["prompt_on"] in prompts and old["prompt_off"] not in prompts
    by_itself = "off" if (old["on"] or needs_word) and not old["off"] else "on"
    default = {"prompt": old[f"prompt_{by_itself}"]}
    states: dict[str, object] = {"default": default}
    for word, name in _SWITCHES.items():
        state = {"variables": old[word], "prompt": old[f"prompt_{word}"]}
        if state != {"variables": {}, **default}:
            states[name] = state
    others = {key: value for key, value in old.items() if key not in _OLD_KEYS}
    if given:
        others["words"] = [_word(word) for word in given]
    return states | others


def _word(word: object) -> object:
    if not isinstance(word, Mapping):
        return word
    return {**word, "switches": _SWITCHES.get(str(word.get("switches")), word.get("switches"))}
