"""Spec -> the source of a Python parser module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from turnspec.codegen.banner import banner, sealed
from turnspec.codegen.compiled import compiled_source
from turnspec.codegen.facts import facts_of
from turnspec.codegen.left_out import Extra, leave_out
from turnspec.codegen.module_top import docstring
from turnspec.spec.model import Spec
from turnspec.spec.recipe import REGENERATE


def generate_module(
    spec: Spec,
    *,
    spec_path: str,
    spec_hash: str,
    samples: Sequence[str] = (),
    command: str = REGENERATE,
    without: Set[Extra] = frozenset(),
) -> str:
    """Return the source of the parser module for a spec.

    ``spec_path``, ``spec_hash`` and ``command`` go into the banner, ``samples`` are turns to be
    shown. ``without`` is what the parser leaves out.
    """
    facts = leave_out(facts_of(spec), without)
    head = banner(spec_path, spec_hash, command=command, without=without)
    told = docstring(facts, samples, _notes(spec))
    return sealed(f"{head}{told}\n{compiled_source(facts)}")


def _notes(spec: Spec) -> Iterator[str]:
    """Yield what a user has to know beside the facts: a word that switches thinking."""
    thinking = spec.thinking
    for enable, verb in ((False, "disables"), (True, "enables")):
        state = thinking.state(enable)
        if state.variables or state == thinking.default:
            continue
        for word in thinking.words:
            if word.prompt == state.prompt:
                roles = " or ".join(word.roles)
                said = f"the text of a {roles} message ends with {word.word!r}"
                yield f"The prompt {verb} thinking if {said}."
                break
