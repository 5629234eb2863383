"""Arrays and objects by their schemas, as grammar rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

from turnspec.engine.types import json_types
from turnspec.grammar.notations import Notation
from turnspec.grammar.rule_names import slug
from turnspec.grammar.schema_checks import Place, Schema
from turnspec.grammar.schema_limits import MOST_BESIDE
from turnspec.grammar.schema_parts import (
    given,
    item_at,
    property_schemas,
    schemas_under,
    takes_every,
)
from turnspec.grammar.schema_rules import Body, SchemaRules
from turnspec.grammar.schema_strings import Remarks, limited, path_of
from turnspec.grammar.tagged import VALUE_END
from turnspec.grammar.text import GAP, group, sequence
from turnspec.grammar.value_notations import ValueNotation
from turnspec.spec.encoding import ordered_keys

_ABOUT_OBJECTS = {"properties", "required", "additionalProperties"}


@dataclass(frozen=True, slots=True)
class Containers:
    """What writes arrays and objects; ``reference`` is what stands for a value in them."""

    root: Schema
    closed: bool
    rules: SchemaRules
    remarks: Remarks
    reference: Callable[[list[Place], str, Notation], str | None]

    def array(self, parts: list[Place], name: str, notation: Notation) -> Body | None:
        """Return the lists that all the schemas hold for; None if there are none."""
        least = max(int(notation.is_filled), *map(int, given(parts, "minItems")), 0)
        most = min(map(int, given(parts, "maxItems")), default=None)
        inside = notation.inside()
        item = self._inner(schemas_under(parts, "items"), f"{name}-item", inside)
        firsts: list[str] = []
        for position in range(max((len(p) for p in given(parts, "prefixItems")), default=0)):
            first = self._inner(item_at(parts, position), f"{name}-item-{position + 1}", inside)
            if first is None:
                most = position if most is None else min(most, position)
                break
            firsts.append(first)
        if item is None:
            most = len(firsts) if most is None else min(most, len(firsts))
        if most is not None and least > most:
            return None
        firsts = firsts if most is None else firsts[:most]
        if item == inside.any_value() and not firsts and not least and most is None:
            return Body(notation.any_of("array"))
        bounds = limited(parts, ("minItems", "maxItems"), (least, most), self.remarks)
        needs = [*firsts[: bounds[0]], *([item or ""] if bounds[0] > len(firsts) else [])]
        return Body(notation.array(firsts, item, bounds), (frozenset(needs),))

    def object(self, parts: list[Place], name: str, notation: Notation) -> Body | None:
        """Return the objects that all the schemas hold for; None if there are none."""
        known = list(chain(*notation.named))
        if not known and not any(part.keywords.keys() & _ABOUT_OBJECTS for part in parts):
            self._tell_open(parts, notation)
            text = notation.any_of("object") or notation.empty() or '""'
            return None if notation.is_filled and text == '""' else Body(text)
        required = list(dict.fromkeys(key for keys in given(parts, "required") for key in keys))
        named = list(dict.fromkeys([key for p in given(parts, "properties") for key in p]))
        named += [key for key in required if key not in named]
        if not self._is_closed(parts):
            named += [key for key in known if key not in named]
        members: list[tuple[str, bool]] = []
        needs: set[str] = set()
        for key in ordered_keys(named, notation.order):
            values = self._members_of(key, parts, name, notation)
            if not values and key in required:
                return None
            if values:
                needs |= set(values) if key in required and len(values) == 1 else set()
                members.append((group(values.values()), key in required))
        extra = self._other_member(named, parts, name, notation)
        optional = sum(not needed for _, needed in members)
        tell_many(self.remarks, optional, "properties that may be missing", parts[0].path)
        if notation.is_filled and not members and not extra:
            return None
        return Body(self._members(members, extra, name, notation), (frozenset(needs),))

    def _is_closed(self, parts: list[Place]) -> bool:
        is_open = given(parts, "additionalProperties") or not given(parts, "properties")
        return self.closed and not is_open

    def _members_of(
        self, key: str, parts: list[Place], name: str, notation: Notation
    ) -> dict[str, str]:
        """Return the ways to write a member, by the rule for its value: one for each type word."""
        places = property_schemas(parts, key)
        values = self._values_by_word(key, places, f"{name}-{slug(key)}", notation)
        written = notation.key(key)
        if written is None:
            message = f"the name {key!r} cannot be written in this format"
            path = places[0].path if places else path_of(parts, "required")
            self.remarks.left_out(message, path, "it is left out")
            return {}
        if values and " " in written:
            written = self.rules.add_free(f"{name}-{slug(key)}-key", Body(written))
        return {value: notation.member(written, value, word) for word, value in values}

    def _values_by_word(
        self, key: str | None, places: list[Place], hint: str, notation: Notation
    ) -> list[tuple[str, str]]:
        """Return the rules for a member's value, each with the word that says its type."""
        found = []
        seen = notation.seen(self.root, key, [place.schema for place in places])
        for word, types in notation.types() or (("", ()),):
            narrowed = [Place({"type": list(types)}, "")] if types else []
            value = self._inner([*places, *narrowed], hint, notation.inside(), seen)
            if value is not None:
                found.append((word, value))
        if found and key is not None:
            self._tell_unknown(key, places, notation)
        return found

    def _tell_unknown(self, key: str | None, places: list[Place], notation: Notation) -> None:
        """Say which member a parser tells of though the schema allows it; None is any other."""
        if notation.calls_unknown(self.root, key, places):
            message = "a parser of this format tells of a name as unknown that the schema allows"
            self.remarks.notice(f"{message}: {repr(key) if key else 'any other'}", "#")

    def _inner(
        self, places: list[Place], hint: str, notation: Notation, seen: list[Schema] | None = None
    ) -> str | None:
        """Return what stands for a value inside another one.

        ``seen`` are the schemas by which a parser reads it, if not just those of ``places``.
        """
        if not (isinstance(notation, ValueNotation) and notation.untyped):
            return self.reference(places, hint, notation)
        path = places[0].path if places else "#"
        document = {} if isinstance(self.root, bool) else self.root
        schemas = [place.schema for place in places] if seen is None else seen
        if notation.has_doubts(schemas, document):
            told = "several schemas say what is inside, of which a parser of this format takes one"
            self.remarks.left_out(told, path, "all are let through")
        types = frozenset(chain(*(json_types(schema, document) for schema in schemas)))
        if len(types) > 1 and ("string" in types or types >= {"array", "object"}):
            unlike = [kind for kind in types if not takes_every(self.root, places, kind)]
            notation = notation.reading(types, frozenset(unlike))
        narrowed = Place({"type": sorted(types) or ["string"]}, "")
        found = self.reference([*places, narrowed], hint, notation)
        if found is None and self.reference(places, hint, notation) is not None:
            message = "the type is stated where a parser of this format doesn't look"
            self.remarks.left_out(message, path, "it is left out")
        return found

    def _other_member(
        self, named: list[str], parts: list[Place], name: str, notation: Notation
    ) -> str:
        """Return a member that no schema names; "" if there is none."""
        if self._is_closed(parts):
            return ""
        others = schemas_under(parts, "additionalProperties")
        values = self._values_by_word(None, others, f"{name}-other", notation)
        if not values:
            return ""
        self._tell_open(parts, notation)
        key = notation.any_key()
        if named and key:
            add = self.rules.adding(f"{name}-other-key")
            key = add(notation.other_key(named, add))
        return group(notation.member(key, value, word) for word, value in values if key)

    def _tell_open(self, parts: list[Place], notation: Notation) -> None:
        """Say what a grammar can't do about names that no schema gives."""
        message = "a grammar lets names that the schema doesn't give come twice"
        if not notation.any_key():
            message = "names that the schema doesn't give are left out, as the format repeats them"
        if self.closed:
            self.remarks.notice(message, parts[0].path if parts else "#")
        self._tell_unknown(None, parts, notation)

    def _members(
        self, members: list[tuple[str, bool]], extra: str, name: str, notation: Notation
    ) -> str:
        """Return an object with its commas: a member has one before it unless it is the first.

        As long as members are optional, each may be the first; what then follows is a rule, so
        that the text grows with the number of members and not with that of their choices.
        """
        comma = notation.comma()
        first = next((n for n, (_, needed) in enumerate(members) if needed), len(members))
        starts, rest = [], group([sequence(comma, extra)], "*") if extra else ""
        if extra and first == len(members):
            starts.append(sequence(extra, rest))
        for number, (member, needed) in reversed(list(enumerate(members))):
            if number <= first:
                starts.append(sequence(member, rest))
            after = sequence(comma, member)
            rest = sequence(after if needed else f"( {after} )?", rest)
            if 0 < number <= first:
                rest = self.rules.add_free(f"{name}-rest", Body(rest))
        may_be_empty = first == len(members) and not notation.is_filled
        empty = notation.empty() if may_be_empty else None
        inside = group(reversed(starts), "?" if may_be_empty and empty is None else "")
        if not inside and empty is not None:
            return empty
        # White space, where there is none: a call that is one regular expression is one
        # token to llguidance, which would take the beginning of the turn's end for a further call.
        written = sequence(notation.opening(), inside, notation.closing())
        some = written if {GAP, VALUE_END} & {*written.split()} else sequence(GAP, written)
        return some if empty is None else f"{some} | {empty}"


def tell_many(remarks: Remarks, count: int, what: str, path: str) -> None:
    """Say that there are more things beside each other than an engine may take."""
    if count > MOST_BESIDE:
        remarks.notice(f"llguidance may stop at {count} {what}", path)
