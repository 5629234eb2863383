"""Finding a format by what people have: a name, a model's id, a template, a file that holds one."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from turnspec.catalog.catalog import Catalog
from turnspec.catalog.known import KnownFormat
from turnspec.catalog.names import Closeness, ModelName, match_names, suggested
from turnspec.pipeline.project import Project
from turnspec.sources.hub_place import Fetch, HubModel, without_page
from turnspec.sources.reading import GGUF_SUFFIX, named_again, shown_path
from turnspec.spec.files import SPEC_SUFFIX
from turnspec.spec.naming import TEMPLATE_SUFFIX, template_name
from turnspec.spec.problems import Problem

_HASH = re.compile(r"[0-9a-f]{12,64}")
_MOST_LISTED = 12


class How(StrEnum):
    """By what a format was found."""

    NAME = "name"
    TEMPLATE = "template"  # this very text
    SAME_FORMAT = "same format"  # another text, with the same fingerprint
    MODEL = "model"  # its template had that format once
    LIKE_NAME = "like name"  # a rule over names


@dataclass(frozen=True, slots=True)
class Found:
    """A format, and how it was found; ``notice`` has lines of what its user should know of that."""

    format: KnownFormat
    how: How
    notice: str = ""


def find_format(asked: str, catalog: Catalog, fetch: Fetch | None = None) -> Found | Problem:
    """Return the format that a name, an id, a hash or a path stands for, or why none does.

    A format's own name goes first, then a file or folder of that path, then a model on the hub, if
    ``fetch`` asks it, then all else.
    """
    if not asked.strip():
        return unknown_name(asked, catalog)
    asked = without_page(asked)
    path = Path(asked).expanduser()
    named = _exactly_named(asked, catalog)
    if named is not None and (path.name == asked or not is_path(asked)):
        return Found(named, How.NAME)
    if path.suffix == SPEC_SUFFIX:
        return _by_spec(path)
    place = template_path(asked, catalog, fetch)
    if isinstance(place, Path):
        return _by_path(place, catalog)
    found = _by_hash(asked, catalog) or _by_model(asked.partition("@")[0], catalog)
    if place is None:
        return found
    return replace(found, notice=f"{found.notice}\n{place}") if isinstance(found, Found) else place


def template_path(asked: str, catalog: Catalog, fetch: Fetch | None) -> Path | Problem | None:
    """Return where the template lies that is meant, None where that is by the name of a format.

    A problem says why a model's template can't be fetched.
    """
    path = Path(asked).expanduser()
    if path.suffix == SPEC_SUFFIX:
        return None
    is_name = path.name == asked or not is_path(asked)
    if is_name and _exactly_named(asked, catalog) is not None:
        return None
    return fetched_path(asked, fetch) if is_path(asked) or HubModel.read(asked) else None


def fetched_path(asked: str, fetch: Fetch | None) -> Path | Problem | None:
    """Return the path that is meant, or that a model on the hub was fetched to.

    What is there goes first. None: nothing may be fetched.
    """
    model = None if is_path(asked) else HubModel.read(asked)
    if model is None:
        return Path(asked).expanduser()
    return fetch(model) if fetch else None


def is_path(asked: str) -> bool:
    """Tell whether a file or folder is meant, there or not."""
    if not asked.strip():  # nothing, which as a path is this folder
        return False
    path = Path(asked).expanduser()
    is_named_so = path.suffix in (TEMPLATE_SUFFIX, GGUF_SUFFIX) or asked.startswith(("./", "../"))
    return is_named_so or path.exists() or path.is_absolute()


def unknown_name(asked: str, catalog: Catalog) -> Problem:
    """Return what to say of a name that nothing goes by."""
    close = suggested(asked, readable_names(catalog, asked))
    either = " or ".join(filter(None, [", ".join(close[:-1]), *close[-1:]]))
    hint = f"did you mean {either}?" if close else "turnspec list shows all that are"
    return Problem(f"no format is known as {asked!r}; {hint}")


def _exactly_named(asked: str, catalog: Catalog) -> KnownFormat | None:
    """Return the format with this name, whatever its capitals and signs: or this alias.

    And that of a model whose template is pinned, at the commit that is asked for if any is.
    """
    model = HubModel.read(asked)
    if model is not None:
        pinned = [known for known in catalog if known.is_of(model)]
        if pinned or model.revision:
            return pinned[0] if len(pinned) == 1 else None
    names = (template_name(asked), template_name(asked.replace("/", "-")))
    for name in names:
        if name in catalog.formats:
            return catalog.formats[name]
    for known in catalog:
        if any(template_name(alias) in names for alias in known.aliases):
            return known
    return None


def _by_spec(path: Path) -> Found | Problem:
    """Return the format of a spec: a repository's, or one that was analysed into a folder."""
    if not path.exists():
        return Problem("there is no such file or folder", str(path))
    known = Catalog.around(path.parent).formats.get(path.stem)
    if known is None or (known.project.root / known.paths.spec).resolve() != path.resolve():
        known = KnownFormat(path.stem, Project(path.parent), None, None, spec_file=path)
    return Found(known, How.NAME)


def _by_path(path: Path, catalog: Catalog) -> Found | Problem:
    """Return the format of the template that a file or folder holds."""
    from turnspec.catalog.identify import Kind, identify_templates  # which a name doesn't need

    identities, problems = identify_templates(path, catalog)
    if problems:
        return problems[0]
    known = {i.names[0]: i for i in identities if i.kind is not Kind.NEW}
    if not known:
        analyse = f"turnspec analyze {shlex.quote(named_again(path))} --into DIR"
        near = next((f" ({identity.near})" for identity in identities if identity.near), "")
        message = f"its format is new{near}; to write a parser for it, run: {analyse}"
        return Problem(message, shown_path(path))
    if len(known) > 1:
        told = ", ".join(f"{i.label} is of {name}" for name, i in known.items())
        return Problem(f"holds several templates: {told}; say which format", shown_path(path))
    ((name, identity),) = known.items()
    if identity.kind is Kind.KNOWN:
        return Found(catalog.formats[name], How.TEMPLATE)
    notice = f"{identity.label}: another template, which writes the format of {identity.in_words}"
    return Found(catalog.formats[name], How.SAME_FORMAT, notice)


def _by_hash(asked: str, catalog: Catalog) -> Found | None:
    """Return the format of the template with this SHA-256, or one that begins so."""
    if not _HASH.fullmatch(asked.lower()):
        return None
    found = [known for known in catalog if (known.sha256 or "").startswith(asked.lower())]
    return Found(found[0], How.TEMPLATE) if len(found) == 1 else None


def _by_model(asked: str, catalog: Catalog) -> Found | Problem:
    """Return the format that a model's template had at a date, else one that its name tells of."""
    table = catalog.models()
    name = table.format_of(asked)
    if name is None:
        found = _by_like_name(asked, catalog)
        like = table.format_like(asked) if isinstance(found, Problem) else None
        if like is None:
            return found
        return Found(catalog.formats[like], How.MODEL, _taken(asked, like, "models of that name"))
    if name not in catalog.formats:
        analyse = f"turnspec analyze {shlex.quote(asked)} --into DIR"
        return Problem(f"no format is known as {asked!r}; to write a parser for it, run: {analyse}")
    by = f"its template of {table.date}"
    return Found(catalog.formats[name], How.MODEL, _taken(asked, name, by))


def _taken(asked: str, name: str, by: str) -> str:
    """Return what to say of a guess."""
    sure = "to be sure, give its template to: turnspec identify"
    return f"{asked} is taken for {name} by {by}; {sure}"


def _by_like_name(asked: str, catalog: Catalog) -> Found | Problem:
    matches = match_names(asked, readable_names(catalog, asked))
    names = [match.name for match in matches]
    if not matches:
        return unknown_name(asked, catalog)
    if len(matches) > 1 or matches[0].closeness is Closeness.EARLIER:
        more = len(names) - _MOST_LISTED
        listed = ", ".join(names[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
        return Problem(f"{asked!r} may be {listed}; say which one is meant")
    (match,) = matches
    notice = _taken(asked, match.name, "its name")
    return Found(catalog.formats[match.name], How.LIKE_NAME, notice)


def named_formats(word: str, catalog: Catalog) -> set[str]:
    """Return the formats whose names hold a word, or that it means.

    The page of ``turnspec report`` finds the same (``report/templates/names.mjs``).
    """
    plain = template_name(word)
    held = {
        known.name
        for known in catalog
        for name in (known.name, *map(template_name, known.aliases))
        if plain and plain in name
    }
    return held | {match.name for match in match_names(word, readable_names(catalog, word))}


def readable_names(catalog: Catalog, asked: str = "") -> list[tuple[str, str]]:
    """Return each name that may be meant with how people write it, and so each alias.

    A packager's variant of a template is meant by a name that says whose it is.
    """
    words = ModelName.read(asked.rpartition("/")[2]).words
    formats = [known for known in catalog if not known.packager or known.packager in words]
    names = [(f.name, f.template_file.removesuffix(TEMPLATE_SUFFIX)) for f in formats]
    return [*names, *((f.name, alias) for f in formats for alias in f.aliases)]
