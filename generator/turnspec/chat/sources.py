"""Which template a model has: the one named, the model's own, or a format that stands in.

The order is llama.cpp's: an explicit template first, then the model's default one and the one for
tools, then ChatML; ChatML also stands in for one that doesn't parse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from turnspec.analysis.analyze import ASSUMED_TOKENS
from turnspec.chat.errors import ChatError
from turnspec.rendering.worker import RenderWorker
from turnspec.sources.hub_place import HubPlace
from turnspec.sources.named_texts import NamedTexts
from turnspec.sources.reading import MAIN_NAME, read_named_texts
from turnspec.spec.files import read_spec
from turnspec.spec.model import Spec
from turnspec.spec.naming import TEMPLATE_SUFFIX
from turnspec.spec.problems import Problem
from turnspec.spec.words import TokenSource

#: The format that stands in for a template that isn't there, and the name of one for tools.
FALLBACK = "chatml"
TOOL_USE = "tool_use"
_FOLDER = Path(__file__).parent / "named"

#: The formats that can be given by name.
NAMED_FORMATS = tuple(sorted(path.stem for path in _FOLDER.glob("*.jinja")))


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """The texts of a vocabulary's special tokens, and which of them its tokenizer adds itself.

    ``known``: a vocabulary was read. Without one the usual texts are assumed.
    """

    bos: str | None = None
    eos: str | None = None
    adds_bos: bool = False
    adds_eos: bool = False
    known: bool = False

    def texts(self) -> dict[str, str]:
        """Return what templates know under ``bos_token`` and ``eos_token``."""
        given = {"bos_token": self.bos, "eos_token": self.eos}
        texts = {name: text for name, text in given.items() if text is not None}
        return {"bos_token": "", "eos_token": "", **texts} if self.known else texts


@dataclass(frozen=True, slots=True)
class ModelTemplates:
    """A model's templates: the default one, the one for prompts with tools, the tokens.

    ``notes`` say aloud what was assumed or replaced; ``specs`` are those known already, by the
    template's text.
    """

    name: str
    default: str
    tool_use: str | None = None
    tokens: SpecialTokens = SpecialTokens()
    notes: tuple[str, ...] = ()
    specs: tuple[Spec, ...] = ()


def named_format(name: str) -> tuple[str, Spec]:
    """Return the template and the spec of a format of our own.

    Raises:
        ChatError: there is none of that name.
    """
    if name not in NAMED_FORMATS:
        known = ", ".join(NAMED_FORMATS)
        raise ChatError([Problem(f"no format is named {name}; there are {known}")])
    spec = read_spec(_FOLDER / f"{name}.yaml")
    assert isinstance(spec, Spec), spec
    return (_FOLDER / f"{name}.jinja").read_text(encoding="utf-8"), spec


def model_templates(
    source: Path | None,
    explicit: str | None = None,
    variant: str | None = None,
    tokens: SpecialTokens = SpecialTokens(),
) -> ModelTemplates:
    """Return the templates of a GGUF file, a model folder or a .jinja file.

    Args:
        source: the model; None where there is nothing but an explicit template.
        explicit: a template's text, or the name of a format, that is used instead of the model's.
        variant: the name of one of the model's templates, used whether there are tools or not.
        tokens: texts of special tokens that count instead of the vocabulary's.

    Raises:
        ChatError: the source can't be read, or has no such variant.
    """
    found, problems = read_named_texts(source) if source else (NamedTexts({}, {}), [])
    if problems:
        raise ChatError(problems)
    place = HubPlace.of(source) if source else None
    name = place.name if place else source.resolve().stem if source else "given"
    known = source is not None and source.suffix != TEMPLATE_SUFFIX
    tokens = SpecialTokens(
        found.bos_token if tokens.bos is None else tokens.bos,
        found.eos_token if tokens.eos is None else tokens.eos,
        found.adds_bos,
        found.adds_eos,
        known=known,
    )
    texts = found.texts
    if variant is not None and variant not in texts:
        shown = ", ".join(sorted(texts)) or "none"
        raise ChatError([Problem(f"has no template named {variant}; it has {shown}", str(source))])
    main = explicit if explicit is not None else texts.get(variant or MAIN_NAME, "")
    tool_use = texts.get(TOOL_USE) if explicit is None and variant is None else None
    with RenderWorker() as worker:
        chosen = _chosen(name, main, tool_use, found.missing, worker)
        return _with_token_notes(replace(chosen, tokens=tokens), worker)


def _chosen(
    name: str, main: str, tool_use: str | None, missing: str, worker: RenderWorker
) -> ModelTemplates:
    """Choose as llama.cpp does; a text may be a format's name."""
    notes: list[str] = []
    specs: list[Spec] = []
    if main.strip() in NAMED_FORMATS and (main.strip() != FALLBACK or tool_use is None):
        name, (main, spec) = main.strip(), named_format(main.strip())
        specs.append(spec)
    elif not main.strip() or main.strip() == FALLBACK:
        if tool_use is not None:
            main = tool_use
        else:
            notes.append(f"the model {missing or 'holds no chat template'}: {FALLBACK} stands in")
            main, spec = named_format(FALLBACK)
            specs.append(spec)
    texts: list[str] = []
    for text in (main, *((tool_use,) if tool_use is not None else ())):
        error = worker.facts(text).error
        if error is not None:
            notes.append(f"the template can't be parsed ({error}): {FALLBACK} stands in")
            text, spec = named_format(FALLBACK)
            specs.append(spec)
        texts.append(text)
    return ModelTemplates(
        name,
        texts[0],
        texts[1] if tool_use is not None else None,
        SpecialTokens(),
        tuple(dict.fromkeys(notes)),
        tuple(specs),
    )


def _with_token_notes(templates: ModelTemplates, worker: RenderWorker) -> ModelTemplates:
    """Say which special token a template uses that the vocabulary hasn't."""
    tokens = templates.tokens
    given: Mapping[str, str | None] = {"bos_token": tokens.bos, "eos_token": tokens.eos}
    texts = filter(None, (templates.default, templates.tool_use))
    used = [name for text in texts for name in given if name in worker.facts(text).reads]
    missing = [name for name in dict.fromkeys(used) if given[name] is None]
    told = "the template uses {}, and nobody names it; {} stands in"
    if tokens.known:
        told = "the template uses {}, and the vocabulary has none"
    notes = (told.format(name, ASSUMED_TOKENS[name]) for name in missing)
    return replace(templates, notes=(*templates.notes, *notes))


def known_templates(
    spec: Spec, text: str, tokens: SpecialTokens = SpecialTokens()
) -> ModelTemplates:
    """Return a template with its spec; ``tokens`` go before those that the spec has."""
    given = {key: it.text for key, it in spec.tokens.items() if it.source is TokenSource.GIVEN}
    bos = given.get("bos_token") if tokens.bos is None else tokens.bos
    eos = given.get("eos_token") if tokens.eos is None else tokens.eos
    found = ModelTemplates(spec.name, text, tokens=SpecialTokens(bos, eos), specs=(spec,))
    with RenderWorker() as worker:
        return _with_token_notes(found, worker)
