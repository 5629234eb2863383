"""Fetching what a model's repository on the hub holds of templates, and nothing else of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from turnspec.sources.gguf_metadata import metadata_end
from turnspec.sources.hub_client import HubClient, HubError, within
from turnspec.sources.hub_place import COMMIT, MAIN, HubModel
from turnspec.sources.hub_settings import HubSettings, hub_settings
from turnspec.sources.index import INDEX_FILE, Entry
from turnspec.sources.reading import GGUF_SUFFIX, TEXT_FILES, read_named_texts, read_templates
from turnspec.spec.atomic import replacing, write_atomically
from turnspec.spec.input_files import text_if_there
from turnspec.spec.os_reasons import os_message
from turnspec.spec.problems import Problem

_FURTHER_FILE = re.compile(r"additional_chat_templates/[A-Za-z0-9_][\w.-]{0,95}\.jinja", re.ASCII)
_GGUF_FILE = re.compile(r"(?:[A-Za-z0-9_][\w.+-]*/){0,3}[A-Za-z0-9_][\w.+-]*\.gguf", re.ASCII)
# Of a file in parts the first has the metadata.
_LATER_PART = re.compile(r"-(?!00001)\d{5}-of-\d{5}\.gguf$")
_MOST_FURTHER, _MOST_HEADS = 32, 3
#: Licences, as the hub names them, that forbid works that are derived from what is under them.
_NO_DERIVATIVES = re.compile(r"(?:^|-)nd(?:-|$)")

Tell = Callable[[str], None]


def fetch_model(
    model: HubModel, settings: HubSettings, tell: Tell = lambda line: None, *, to_keep: bool = False
) -> Path | Problem:
    """Return where a model's templates lie: a folder, or a file of which the beginning is there.

    Args:
        model: which one; its revision is resolved.
        settings: where the hub is; offline, the cache alone is asked.
        tell: gets what the user should know, a line each: that the hub is asked, that a model has
            another name, what its licence forbids.
        to_keep: whether it is for a repository of formats, which a licence may forbid.
    """
    if settings.offline:
        missing = f"isn't in {settings.cache}, and the hub isn't asked offline"
        return _cached(model, settings) or Problem(missing, str(model))
    if not settings.endpoint.startswith(("https://", "http://")):
        message = f"HF_ENDPOINT is {settings.endpoint}: only http:// and https:// are asked"
        return Problem(message, str(model))
    tell(f"asking {settings.endpoint} for the template of {model} (--offline forbids it)")
    client = HubClient(settings, model.repository)
    try:
        return within(settings.patience, lambda: _fetched(client, model, tell, to_keep=to_keep))
    except HubError as error:
        return Problem(str(error), str(model))
    except OSError as error:
        return Problem(f"can't be kept: {os_message(error)}; or set HF_HOME", str(model))


def fetch_pinned(entries: Iterable[Entry], root: Path, *, offline: bool = False) -> list[Problem]:
    """Write templates that are pinned at commits of the hub below ``root``, each checked."""
    settings = hub_settings()
    cached = replace(settings, offline=True)
    problems: list[Problem] = []

    def model_of(entry: Entry) -> tuple[str, str]:
        return entry.repository, entry.commit

    for pin, group in groupby(sorted(entries, key=model_of), model_of):
        pinned = list(group)
        texts, why = _texts_by_hash(HubModel(*pin), cached)
        if not offline and any(entry.sha256 not in texts for entry in pinned):
            texts, why = _texts_by_hash(HubModel(*pin), settings)
        for entry in pinned:
            if entry.sha256 in texts:
                write_atomically(root / entry.location, texts[entry.sha256])
            else:
                message = f"cannot fetch {entry.file}: {why}"
                problems.append(Problem(message, INDEX_FILE, entry.line))
    return problems


def _texts_by_hash(model: HubModel, settings: HubSettings) -> tuple[dict[str, str], str]:
    """Return a model's templates by their hashes, and why another isn't among them."""
    path = fetch_model(model, settings)
    if isinstance(path, Problem):
        return {}, str(path)
    templates, problems = read_templates(path)
    texts = {template.sha256: template.text for template in templates}
    return texts, str(problems[0]) if problems else f"{model}: no template has the pinned sha256"


def _fetched(client: HubClient, model: HubModel, tell: Tell, *, to_keep: bool) -> Path:
    settings = client.settings
    info = client.info(model.revision or MAIN)
    called, commit, files = _read_info(info, model)
    if called.repository.lower() != model.repository.lower():
        tell(f"{model.repository} is called {called.repository} now")
    _heed_licence(info.get("cardData"), called, tell, to_keep=to_keep)
    client.repository = called.repository
    folder = called.snapshot(settings.cache, commit)
    further = [file for file in sorted(files) if _FURTHER_FILE.fullmatch(file)][:_MOST_FURTHER]
    for file in (*(file for file in TEXT_FILES if file in files), *further):
        if not (folder / file).is_file():
            _write(folder / file, client.file(file, commit))
    if folder.is_dir() and _says_something(folder):
        _note_commit(called.reference(settings.cache), model, commit, anew=False)
        return folder
    for head in _heads(client, called, commit, files):
        if _says_something(head):
            _note_commit(called.reference(settings.heads), model, commit, anew=True)
            return head
    looked_for = f"{', '.join(TEXT_FILES[:3])}, additional_chat_templates/, *{GGUF_SUFFIX}"
    raise HubError(f"holds no chat template ({looked_for}); name the model that is made to chat")


def _says_something(place: Path) -> bool:
    """Tell whether there is a template, or what is wrong with what is there."""
    found, problems = read_named_texts(place)
    return bool(found.texts or problems)


def _read_info(info: Mapping[str, object], model: HubModel) -> tuple[HubModel, str, set[str]]:
    """Return the model as it is called now, the commit, and the paths of its files."""
    called = HubModel.read(str(info.get("id")))
    commit, listed = info.get("sha"), info.get("siblings")
    if called is None or not isinstance(listed, list) or not COMMIT.fullmatch(str(commit)):
        raise HubError("what answers isn't a hub: it names no commit; see to HF_ENDPOINT")
    rows = [row.get("rfilename") for row in listed if isinstance(row, Mapping)]
    files = {path for path in rows if isinstance(path, str)}
    return replace(called, revision=model.revision), str(commit), files


def _heed_licence(card: object, model: HubModel, tell: Tell, *, to_keep: bool) -> None:
    licence = card.get("license") if isinstance(card, Mapping) else None
    if not isinstance(licence, str) or not _NO_DERIVATIVES.search(licence.lower()):
        return
    forbids = f"its licence, {licence}, forbids to pass on what is made from it"
    if to_keep:
        yourself = f"turnspec analyze {model} --into DIR"
        raise HubError(f"{forbids}; to have a parser for yourself, run: {yourself}")
    tell(f"{model}: {forbids}")


def _heads(client: HubClient, model: HubModel, commit: str, files: Iterable[str]) -> Iterator[Path]:
    """Yield GGUF files, or what has been fetched of their beginnings."""
    found = [file for file in sorted(files) if _GGUF_FILE.fullmatch(file)]
    for file in [file for file in found if not _LATER_PART.search(file)][:_MOST_HEADS]:
        caches = client.settings.cache, client.settings.heads
        places = [model.snapshot(cache, commit) / file for cache in caches]
        there = next((place for place in places if place.is_file()), None)
        if there is None:
            _write(places[-1], client.head(file, commit, metadata_end))
        yield there or places[-1]


def _cached(model: HubModel, settings: HubSettings) -> Path | None:
    """Return where a model's templates lie since an earlier time, by whoever fetched them."""
    for cache in (settings.cache, settings.heads):
        commit = model.revision if model.is_fixed else _noted(model.reference(cache))
        folder = model.snapshot(cache, commit)
        heads: Sequence[Path] = sorted(folder.rglob(f"*{GGUF_SUFFIX}")) if commit else ()
        for place in (folder, *heads) if commit else ():
            if read_named_texts(place)[0].texts:
                return place
    return None


def _noted(reference: Path) -> str:
    commit = (text_if_there(reference) or "").strip()
    return commit if COMMIT.fullmatch(commit) else ""


def _note_commit(reference: Path, model: HubModel, commit: str, *, anew: bool) -> None:
    """Note what a revision is, for work offline.

    In the client's own folder a note that is there stays: the rest of the model is at that commit.
    """
    if not model.is_fixed and (anew or not reference.exists()):
        _write(reference, commit.encode())


def _write(path: Path, data: bytes) -> None:
    with replacing(path) as beside:
        beside.write_bytes(data)
