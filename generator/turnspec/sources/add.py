"""Bringing a template of one's own into templates/ and its index, and taking it out again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from turnspec.sources.hub_place import HUB
from turnspec.sources.index import (
    FETCHED_FOLDER,
    INDEX_FILE,
    LOCAL,
    LOCAL_FOLDER,
    Entry,
    Origin,
    parse_index,
)
from turnspec.sources.index_edit import with_entries, with_origins, with_pin, without_entry
from turnspec.sources.reading import SourceTemplate, read_templates
from turnspec.sources.text_files import found_sha256, read_text
from turnspec.spec.atomic import write_all_atomically
from turnspec.spec.input_files import file_bytes
from turnspec.spec.os_reasons import reason
from turnspec.spec.problems import Problem


@dataclass(slots=True)
class AddResult:
    """What became of a source's templates, and what is wrong with it.

    ``added`` are new in the index, ``updated`` were pinned anew, ``unchanged`` were there before
    with equal content.
    """

    added: list[SourceTemplate] = field(default_factory=list)
    unchanged: list[SourceTemplate] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    updated: list[SourceTemplate] = field(default_factory=list)


def add_source(
    source: Path, root: Path, name: str | None = None, *, update: bool = False
) -> AddResult:
    """Write a source's templates to ``root``/templates and append them to the index there.

    ``source`` and ``name`` are as for `read_templates`. A template whose name is taken by one with
    other content becomes a problem, unless ``update`` has it take that one's place; the source's
    other templates are added nevertheless.
    """
    templates, problems = read_templates(source, name)
    result = add_templates(templates, root, update=update)
    result.problems[:0] = problems
    return result


def add_templates(
    templates: Iterable[SourceTemplate],
    root: Path,
    *,
    update: bool = False,
    packages: Iterable[Origin] = (),
) -> AddResult:
    """Do the same with templates at hand, some of which ``packages`` may hold."""
    text, troubles = read_text(root / INDEX_FILE, INDEX_FILE)
    index, wrong = (None, troubles) if troubles else parse_index(text)
    if index is None or wrong:
        return AddResult(problems=wrong)
    new = {package.id: package for package in packages if package.id not in index.origins}
    extended = with_origins(text, list(new.values()))
    if isinstance(extended, Problem):
        return AddResult(problems=[extended])
    text, result = extended, AddResult()
    for template in templates:
        entry = index.by_name(template.name)
        if entry:
            template = replace(template, file=entry.file, pin=_pin_for(entry, template))
        if entry and update and _takes(entry, template) and entry.sha256 != template.sha256:
            result.updated.append(template)
            continue
        if conflict := _conflict(template, entry, root, update=update):
            result.problems.append(conflict)
        else:
            (result.unchanged if entry else result.added).append(template)
    problem = _write(result, text, root)
    return AddResult(problems=[*result.problems, problem]) if problem else result


def _conflict(
    template: SourceTemplate, entry: Entry | None, root: Path, *, update: bool
) -> Problem | None:
    if entry and entry.sha256 != template.sha256:
        message = f"{INDEX_FILE}:{entry.line} has another template named {template.name}"
        if update:
            return Problem(f"{message}, which is fetched; pin another text there", template.source)
        hint = ", or --update to have this one take its place" if _takes(entry, template) else ""
        return Problem(f"{message}; choose another name{hint}", template.source)
    place = location(template)
    target = root / place
    if not entry and target.exists() and file_bytes(target) != template.text.encode("utf-8"):
        message = f"{place} is there already, with other content"
        return Problem(f"{message}; choose another name", template.source)
    return None


def _pin_for(entry: Entry, template: SourceTemplate) -> Mapping[str, str]:
    """Return how a template can be pinned in an entry's place: what was copied stays a copy."""
    at_the_hub = template.pin.get("origin") == HUB
    fits = entry.origin != LOCAL and at_the_hub is (entry.origin == HUB)
    return template.pin if fits else {}


def _takes(entry: Entry, template: SourceTemplate) -> bool:
    """Tell whether a template can take the place of one that is pinned."""
    return entry.origin == LOCAL or bool(template.pin)


def location(template: SourceTemplate) -> str:
    """Return where a template lies, below the root: one of the hub where fetched ones do."""
    return f"{FETCHED_FOLDER if template.pin else LOCAL_FOLDER}/{template.file}"


def _write(result: AddResult, index_text: str, root: Path) -> Problem | None:
    """Write the templates and the index that lists them: all of it or nothing."""
    written = [*result.added, *result.updated]
    if not written:
        return None
    changed = _changed_index(result, index_text, root)
    if isinstance(changed, Problem):
        return changed
    texts = {root / location(template): template.text for template in written}
    try:
        write_all_atomically({**texts, root / INDEX_FILE: changed})
    except OSError as error:
        return Problem(f"cannot be written: {reason(error)}", str(error.filename or INDEX_FILE))
    return None


def _changed_index(result: AddResult, text: str, root: Path) -> str | Problem:
    for template in result.updated:
        entry = parse_index(text)[0].by_name(template.name)
        assert entry is not None, "what is updated is listed"
        changed = with_pin(text, entry, _new_pin(template, entry, root))
        if isinstance(changed, Problem):
            return changed
        text = changed
    return with_entries(text, [_row(template) for template in result.added])


def _new_pin(template: SourceTemplate, entry: Entry, root: Path) -> dict[str, object]:
    """Return what the index is to say of a template; an edited one is still from its source."""
    if template.pin or found_sha256(root / entry.location) != template.sha256:
        return _row(template)
    known = {key: getattr(entry, key) for key in ("source", "bos_token", "eos_token", "tokenizer")}
    return _row(replace(template, **known))


def remove_entry(entry: Entry, root: Path) -> Problem | None:
    """Take a template out of the index of ``root``; its files stay. Raises OSError."""
    text, problems = read_text(root / INDEX_FILE, INDEX_FILE)
    rest = problems[0] if problems else without_entry(text, entry)
    if isinstance(rest, Problem):
        return rest
    write_all_atomically({root / INDEX_FILE: rest})
    return None


def edited_templates(entries: Iterable[Entry], root: Path) -> list[Entry]:
    """Return the repository's own templates whose text isn't the pinned one."""
    return [
        entry
        for entry in entries
        if entry.origin == LOCAL and found_sha256(root / entry.location) != entry.sha256
    ]


def _row(template: SourceTemplate) -> dict[str, object]:
    row: dict[str, object] = {
        "file": template.file,
        "origin": LOCAL,
        **template.pin,
        "sha256": template.sha256,
        "bos_token": template.bos_token,
        "eos_token": template.eos_token,
        "tokenizer": asdict(template.tokenizer) if template.tokenizer else None,
        "source": None if template.pin else template.source,
    }
    return {key: value for key, value in row.items() if value is not None}
