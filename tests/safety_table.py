"""Writes docs/safety.md: which formats a text can make call a tool, and what special tokens change.

Run with ``make safety``. Each format is tried: a call with a value that holds what ends the call
and begins another one, and content that quotes a call.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from tests.generated_formats import ROOT, committed_format
from tests.special_pieces import (
    Piece,
    as_text,
    formats_with_calls,
    special_tokens,
)
from turnspec.codegen.format_module import FormatModule
from turnspec.codegen.loading import load
from turnspec.rendering.conversation import tool_definitions
from turnspec.spec.model import Spec
from turnspec.verification.messages import allowed_call
from turnspec.verification.quoted_calls import CALL, call_in_value, calls_in_text, prefill

PAGE = ROOT / "docs" / "safety.md"
HEAD = """\
<!-- Written from the committed specs; write it again with: make safety -->

# Text that calls tools

A model repeats what it has read: a page that it cites, a file that it writes, an answer about
tool calls. If such a text holds a call in the model's own format, a parser that sees nothing but
text can't tell it from a call that the model makes. There are two ways:

- **in content**: the text quotes a whole call, in prose or between fences. That works in nearly
  all formats.
- **in a value**: an argument (the text of a file to be written, say) holds what ends its call,
  and then another call. Strings in JSON, and others with escapes, can't do that; strings that are
  written as they are can.

The tokenizer knows. In most formats what marks a call is a special token, which a model writes as
one token when it means it; where it quotes, or where the text was made of other tokens, the same
characters come as ordinary ones. Who has the vocabulary tells the parser:

```python
parser = fmt.Parser(tools=tools, special_tokens=["<tool_call>", "</tool_call>", "<|im_end|>"])
for token in tokens:
    parser.feed(token.text, special=token.is_special)     # a special token is one piece, never cut

message = fmt.parse([("<tool_call>", True), ("\\n<function=", False), ...], special_tokens=[...])
```

- A marker that holds one of these tokens counts only where that came as a special piece. The same
  characters in ordinary pieces are text, whatever stands around them.
- Markers that hold none are read by text. Where a token opens calls, a head without it is text
  too, and what closes a call counts only together with the token that closes it.
- The prefill counts as special, and so do stop texts that hold a token.
- A special token that turns out to be text, as it opens nothing, is told: a problem `stray_marker`.
- Without `special_tokens` text decides, whatever `special` says. A marker between two of the same
  quotes (`` `<|im_end|>` ``) is text then.
- What a message says may look like a special token all the same: it came in ordinary pieces, or a
  stray marker was left out between two texts. When messages go into the next prompt, have the
  tokenizer read their texts as ordinary ones.

Give all special tokens that the vocabulary has, also those that the tokenizer calls added and not
special, if they are never made of other text. A model may still be talked into writing a call
with its own tokens: that is a call, and who runs tools has to decide which of them may do what.

## The formats

Each was tried with the special tokens that its spec lets expect; a vocabulary may have fewer.
*Open*: such a text calls a tool. *Closed*: it stays text.

| format | value, by text | content, by text | value, by tokens | content, by tokens |
| --- | --- | --- | --- | --- |
"""


def page() -> str:
    """Return the page's text."""
    return HEAD + "".join(map(line_of, formats_with_calls()))


def line_of(names: list[str]) -> str:
    """Return the line for a format, and for those that differ from it by name alone."""
    return f"| {' | '.join(_row(names))} |\n"


def _row(names: list[str]) -> tuple[str, ...]:
    spec = committed_format(names[0]).spec
    form, tokens = load(spec), special_tokens(spec)
    in_value, value = call_in_value(spec)
    in_text = calls_in_text(spec)
    shown = ", ".join(f"[{name}](../specs/{name}.yaml)" for name in names)
    return (
        shown,
        _shown(_values(form, spec, [(in_value.turn, False)]) != [value]),
        _shown(any(_values(form, spec, [(text.turn, False)]) for text in in_text)),
        _shown(_values(form, spec, as_text(in_value, tokens), special_tokens=tokens) != [value]),
        _shown(
            any(
                _values(form, spec, as_text(text, tokens), special_tokens=tokens)
                for text in in_text
            )
        ),
    )


def _shown(is_open: bool) -> str:
    return "open" if is_open else "closed"


def _values(form: FormatModule, spec: Spec, pieces: list[Piece], **options: Any) -> list[Any]:
    """Return the value that was asked for in each call."""
    tools = tool_definitions((allowed_call(spec, CALL),))
    message = form.parse(pieces, tools=tools, prefill=prefill(spec), **options)
    return [json.loads(call.arguments).get("city") for call in message.tool_calls]


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
