"""What the last regeneration was made from, so that the next one can leave out what is unchanged.

The file is a cache: deleting it costs time and nothing else. A template is unchanged when its
text and tokens, the generator's own source, and every file made from it are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from turnspec.analysis.source import TemplateSource
from turnspec.spec.atomic import write_atomically
from turnspec.spec.input_files import file_bytes, file_text

_GENERATOR = Path(__file__).parent.parent


def read_hashes(path: Path) -> dict[str, str]:
    """Return for each template by name a hash of what it was made from, and of what was made."""
    try:
        data = json.loads(file_text(path))
    except (OSError, ValueError):  # missing or damaged
        return {}
    hashes = data if isinstance(data, dict) else {}
    return {name: text for name, text in hashes.items() if isinstance(text, str)}


def write_hashes(path: Path, hashes: Mapping[str, str]) -> None:
    """Write what `read_hashes` reads."""
    write_atomically(path, json.dumps(hashes, indent=1, sort_keys=True) + "\n")


def generator_fingerprint() -> str:
    """Return a hash of the generator's own source."""
    digest = hashlib.sha256()
    for path in sorted(_GENERATOR.rglob("*")):
        if path.suffix in {".py", ".jinja", ".json"}:
            digest.update(path.relative_to(_GENERATOR).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def input_hash(fingerprint: str, source: TemplateSource, messages: int) -> str:
    """Return a hash of all that a template's files and results depend on."""
    overlay = source.overlay.text if source.overlay else ""
    tokens = json.dumps(dict(source.tokens), sort_keys=True) + repr(source.tokenizer)
    parts = [fingerprint, source.text, overlay, tokens, str(messages)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def output_hash(inputs: str, root: Path, paths: Iterable[str]) -> str | None:
    """Return a hash of the inputs and of the files as they are on disk; None if one is missing."""
    digest = hashlib.sha256(inputs.encode())
    for path in paths:
        try:
            digest.update(file_bytes(root / path))
        except OSError:
            return None
    return digest.hexdigest()
