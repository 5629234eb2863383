"""A vocabulary for llama.cpp: one token for each byte, and special tokens; no weights needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from gguf import GGUFWriter, TokenType

#: The tokens that begin and end a text; no template writes them.
BEGIN_TOKEN = "<turnspec:begin>"
END_TOKEN = "<turnspec:end>"

_ARCHITECTURE = "llama"
# The bytes that this kind of vocabulary writes as themselves; the others are moved out of the way.
_SHOWN = (range(0x21, 0x7F), range(0xA1, 0xAD), range(0xAE, 0x100))
_MOVED_TO = 0x100


def token_ids(special_tokens: Iterable[str] = ()) -> Mapping[str, int]:
    """Return the numbers of the special tokens; the number of a byte is the byte itself."""
    specials = dict.fromkeys((BEGIN_TOKEN, END_TOKEN, *special_tokens))
    return {token: number for number, token in enumerate(specials, start=256)}


def add_vocabulary(
    writer: GGUFWriter, special_tokens: Iterable[str] = (), merges: Sequence[tuple[str, str]] = ()
) -> None:
    """Add the vocabulary to a file that is being written, with the numbers of `token_ids`.

    Each of the merges, in the letters of `shown_bytes`, makes one more token behind the others.
    """
    specials = token_ids(special_tokens)
    shown = shown_bytes()
    merged = [left + right for left, right in merges]
    types = [TokenType.NORMAL] * len(shown) + [TokenType.CONTROL] * len(specials)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([*shown, *specials, *merged])
    writer.add_token_types(types + [TokenType.NORMAL] * len(merged))
    # There has to be one; these two bytes never follow each other in UTF-8.
    rare = (shown[0xFF], shown[0xFF])
    writer.add_token_merges([f"{left} {right}" for left, right in merges or [rare]])
    writer.add_bos_token_id(specials[BEGIN_TOKEN])
    writer.add_eos_token_id(specials[END_TOKEN])
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)


def write_vocabulary(path: Path, *, special_tokens: Iterable[str] = ()) -> None:
    """Write a GGUF file with nothing but the vocabulary, to be loaded with ``vocab_only``."""
    writer = GGUFWriter(path, _ARCHITECTURE)
    add_vocabulary(writer, special_tokens)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def shown_bytes() -> list[str]:
    """Return the character that stands for each byte in a byte-level vocabulary."""
    hidden = 0
    shown = []
    for byte in range(256):
        if any(byte in visible for visible in _SHOWN):
            shown.append(chr(byte))
        else:
            shown.append(chr(_MOVED_TO + hidden))
            hidden += 1
    return shown
