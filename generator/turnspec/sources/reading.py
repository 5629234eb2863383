"""Reading the chat templates that a .jinja file, a model folder or a GGUF file holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from turnspec.sources.gguf_file import read_gguf
from turnspec.sources.hub_place import HubPlace
from turnspec.sources.named_texts import NamedTexts
from turnspec.sources.text_files import read_text, sha256_of
from turnspec.sources.tokenizer_lists import folder_tokenizer, token_text
from turnspec.spec.files import SPEC_SUFFIX
from turnspec.spec.json_values import load_json
from turnspec.spec.model import Tokenizer
from turnspec.spec.naming import TEMPLATE_SUFFIX, naming_faults, template_name
from turnspec.spec.problems import Problem
from turnspec.spec.visible import HALF

GGUF_SUFFIX = ".gguf"
#: What a source's main template is called beside its named ones.
MAIN_NAME = "default"

_MAIN_FILE = "chat_template.jinja"
_FURTHER_FILES = "additional_chat_templates/*.jinja"
_CONFIG_FILE = "tokenizer_config.json"
#: What the processors of models that also see or hear had for their template before it had a file.
_PROCESSOR_FILE = "chat_template.json"
_TOKEN_FILES = ("special_tokens_map.json", "generation_config.json")
#: The files of a model's folder that are read, beside templates with a name of their own.
TEXT_FILES = (_MAIN_FILE, _CONFIG_FILE, _PROCESSOR_FILE, *_TOKEN_FILES)
_NOT_IN_FILES = re.compile(r"[^A-Za-z0-9._]+")


@dataclass(frozen=True, slots=True)
class SourceTemplate:
    """A template as its source holds it.

    ``file`` is the file name it gets in templates/, ``name`` what follows from it. The tokens are
    None where the source doesn't name them. ``source`` says what it was read from, without folders
    of this machine; ``pin`` is what an index says instead of one from the hub, by its keys there.
    """

    name: str
    file: str
    text: str
    source: str
    bos_token: str | None = None
    eos_token: str | None = None
    tokenizer: Tokenizer | None = None
    pin: Mapping[str, str] = field(default_factory=dict)

    @property
    def sha256(self) -> str:
        """The SHA-256 by which the template is pinned."""
        return sha256_of(self.text.encode("utf-8"))


def read_templates(
    source: Path, name: str | None = None
) -> tuple[list[SourceTemplate], list[Problem]]:
    """Read all templates of a .jinja file, a model folder or a .gguf file; writes nothing.

    ``name`` is used instead of the source's own, which is what the source calls its model, or else
    the file's; templates with a name of their own add it.
    """
    if not source.exists():
        return [], [Problem("there is no such file or folder", str(source))]
    if name is not None and PurePath(name).name != name:
        return [], [Problem(f"a template's name holds no folders: {name}", str(source))]
    found, problems = read_named_texts(source)
    if found.missing and not problems:
        problems = [Problem(found.missing, shown_path(source))]
    if problems:
        return [], problems
    source = _folder_of(source)
    place = HubPlace.of(source)
    own = source.resolve().name.removesuffix(TEMPLATE_SUFFIX).removesuffix(GGUF_SUFFIX)
    stem = name or _plain(found.model) or (place.name if place else own)
    files = {key: _file_name(stem, key) for key in found.texts}
    templates = [
        SourceTemplate(
            name=template_name(files[key]),
            file=files[key],
            text=text,
            source=place.source(found.sources[key]) if place else found.sources[key],
            bos_token=found.bos_token,
            eos_token=found.eos_token,
            tokenizer=found.tokenizer,
            pin=place.pin(found.sources[key]) if place else {},
        )
        for key, text in found.texts.items()
    ]
    return _checked(templates, shown_path(source))


#: What to do about a file that holds no template, by its suffix.
_GENERATED = "the first lines of what turnspec wrote name its spec"
_HINTS = {
    ".json": f"give the model's folder, or its {_CONFIG_FILE}",
    ".py": _GENERATED,
    ".gbnf": _GENERATED,
}


def shown_path(path: Path) -> str:
    """Return what a source is called: its path, or that of a model on the hub there."""
    return str(HubPlace.of(path) or path)


def named_again(path: Path) -> str:
    """Return what a command takes for the same source: its path, or a model's id at its commit."""
    place = HubPlace.of(path)
    return str(place.model if place else path)


def read_named_texts(source: Path) -> tuple[NamedTexts, list[Problem]]:
    """Read a source's templates under their own names, and its special tokens.

    The main template's name is `MAIN_NAME`. A source without a template is no problem here.
    """
    source = _folder_of(source)
    if source.is_dir() or source.suffix == GGUF_SUFFIX:
        found, problems = _read_folder(source) if source.is_dir() else read_gguf(source)
        return found, [replace(p, file=shown_path(Path(p.file))) for p in problems]
    if source.suffix == TEMPLATE_SUFFIX:
        text, problems = read_text(source, str(source))
        return NamedTexts({MAIN_NAME: text}, {MAIN_NAME: source.name}), problems
    hint = _HINTS.get(source.suffix, "if it is a template, call it NAME.jinja")
    what = f"is neither a .jinja file nor a .gguf file nor a model folder; {hint}"
    return NamedTexts({}, {}), [Problem(what, str(source))]


def _folder_of(source: Path) -> Path:
    """Return the folder of a tokenizer_config.json, as template files in it go before its own."""
    is_config = source.name in (_CONFIG_FILE, _PROCESSOR_FILE)
    return source.parent if is_config and source.is_file() else source


def _plain(model: str) -> str:
    """Return a model's own name as a file's; it is anybody's text."""
    plain = _NOT_IN_FILES.sub("-", model).strip("-.")
    return plain if template_name(plain) else ""


def _file_name(stem: str, key: str) -> str:
    if key == MAIN_NAME:
        return f"{stem}{TEMPLATE_SUFFIX}"
    # A name from inside a file is anybody's text: what becomes a file name is its plain form.
    return f"{stem}-{template_name(key)}{TEMPLATE_SUFFIX}"


def _checked(
    templates: list[SourceTemplate], source: str
) -> tuple[list[SourceTemplate], list[Problem]]:
    faults = naming_faults(template.file for template in templates)
    problems = [Problem(message, source) for message in faults.values()]
    sound: list[SourceTemplate] = []
    for position, template in enumerate(templates):
        if not template.text.strip():
            problems.append(Problem(f"the template in {template.source} is empty", source))
        elif HALF.search(template.text):
            problems.append(Problem(f"the template in {template.source} is no text", source))
        elif position not in faults:
            sound.append(template)
    return sound, problems


def read_config_templates(path: Path) -> tuple[dict[str, object], dict[str, str], list[Problem]]:
    """Read a tokenizer_config.json: what it holds, and the chat templates that go with it.

    Template files beside it win over its own, where it has the name that they are looked up by.
    """
    if not path.exists():
        return {}, {}, [Problem("there is no such file or folder", str(path))]
    config, problems = _read_config(path)
    if problems:
        return {}, {}, problems
    if path.name == _CONFIG_FILE:
        found, problems = _read_folder(path.parent)
        return config, dict(found.texts), problems
    texts, problems = _config_templates(config, path)
    return config, texts, problems


def _read_folder(folder: Path) -> tuple[NamedTexts, list[Problem]]:
    config, problems = _read_config(folder / _CONFIG_FILE)
    # As Hugging Face loads it: template files, where there are any, win over the configuration.
    paths = {MAIN_NAME: folder / _MAIN_FILE} if (folder / _MAIN_FILE).is_file() else {}
    paths |= {path.stem: path for path in sorted(folder.glob(_FURTHER_FILES))}
    texts: dict[str, str] = {}
    for key, path in paths.items():
        texts[key], more = read_text(path, str(path))
        problems += more
    file = _CONFIG_FILE
    if not paths and not problems:
        texts, problems = _config_templates(config, folder / file)
        if not texts and not problems:
            file = _PROCESSOR_FILE
            processor, problems = _read_config(folder / file)
            texts, more = _config_templates(processor, folder / file)
            problems += more
    places = f"{_MAIN_FILE}, {_FURTHER_FILES}, chat_template in {_CONFIG_FILE}, {_PROCESSOR_FILE}"
    missing = "" if texts else f"holds no chat template; looked for {places}{_file_in(folder)}"
    files = {key: path.relative_to(folder) for key, path in paths.items()}
    sources = {key: f"{folder.resolve().name}/{files.get(key, file)}" for key in texts}
    bos, eos = (token_text(config.get(key)) for key in ("bos_token", "eos_token"))
    adds_bos, adds_eos = (config.get(key) is True for key in ("add_bos_token", "add_eos_token"))
    # What else names tokens is worth reading, but a template does without it.
    token_map, generation = (_read_config(folder / file)[0] for file in _TOKEN_FILES)
    tokenizer = folder_tokenizer(config, token_map, generation, _CONFIG_FILE)
    found = NamedTexts(texts, sources, bos, eos, adds_bos, adds_eos, missing, tokenizer=tokenizer)
    return found, problems


def _file_in(folder: Path) -> str:
    """Return what else might be given of a folder, where that holds something like it."""
    endings = (SPEC_SUFFIX, TEMPLATE_SUFFIX, GGUF_SUFFIX)
    found = (path for ending in endings for path in sorted(folder.glob(f"*{ending}")))
    return next((f"; or give a file of it, as {path}" for path in found), "")


def _read_config(path: Path) -> tuple[dict[str, object], list[Problem]]:
    if not path.exists():
        return {}, []
    text, problems = read_text(path, str(path))
    if problems:
        return {}, problems
    config = load_json(text, str(path), lambda data: data)
    if isinstance(config, Problem):
        return {}, [config]
    if not isinstance(config, dict):
        return {}, [Problem("is JSON, but not an object", str(path))]
    return config, []


def _config_templates(
    config: Mapping[str, object], path: Path
) -> tuple[dict[str, str], list[Problem]]:
    templates = config.get("chat_template")
    if templates is None:
        return {}, []
    if isinstance(templates, str):
        return {MAIN_NAME: templates}, []
    rows = templates if isinstance(templates, list) else [templates]
    texts: dict[str, str] = {}
    for row in rows:
        match row:
            case {"name": str(name), "template": str(text)} if name not in texts:
                texts[name] = text
            case {"name": str(name), "template": str()}:
                message = f"two templates are named {name}"
                return {}, [Problem(message, str(path), path="chat_template")]
            case _:
                message = "is neither a text nor a list of objects with name and template"
                return {}, [Problem(message, str(path), path="chat_template")]
    return texts, []
