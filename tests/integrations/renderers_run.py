"""Reads and bridges turns with exported renderers; runs in an environment that has renderers.

Standard input: a list of formats, each with a renderer's path, a chat template, markers and cases.
Standard output: for each case what was read, and whether the bridge to the next turn holds. The
tokenizer has a token for each character, one for each marker, and Hugging Face's interface.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from renderers.configs import CustomRendererConfig
from renderers.custom import custom_renderer_config, load_custom_renderer
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

_UNKNOWN = "<unk:tokenizer>"


def tokenizer_for(given: dict[str, Any]) -> Any:
    """Return a tokenizer of characters for one format."""
    signs = sorted({sign for text in given["texts"] for sign in text} | set(map(chr, range(128))))
    vocabulary = {text: at for at, text in enumerate([_UNKNOWN, *signs])}
    model = Tokenizer(models.WordLevel(vocabulary, unk_token=_UNKNOWN))
    model.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    model.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=model, unk_token=_UNKNOWN)
    tokenizer.add_special_tokens({"additional_special_tokens": given["tokens"]})
    tokenizer.chat_template = given["template"]
    for key, text in given["named"].items():
        setattr(tokenizer, key, text)
    return tokenizer


def outcome(renderer: Any, tokenizer: Any, case: dict[str, Any]) -> dict[str, Any]:
    """Return what is read of a turn, and what the bridge puts behind it."""
    try:
        return _outcome(renderer, tokenizer, case)
    except Exception as error:  # whatever is raised is what we are to know
        return {"raised": f"{type(error).__name__}: {error}"[:300]}


def _outcome(renderer: Any, tokenizer: Any, case: dict[str, Any]) -> dict[str, Any]:
    prompt = tokenizer.encode(f"before{case['prefill']}", add_special_tokens=False)
    written = tokenizer.encode(case["text"], add_special_tokens=False)
    parsed = renderer.parse_response(written, tools=case["tools"], prompt_ids=prompt)
    calls = [[call.name, call.arguments, call.id, call.status] for call in parsed.tool_calls]
    stops = set(renderer.get_stop_token_ids())
    ends = [at for at, token in enumerate(written) if token in stops]
    sampled = written[: ends[0] + 1] if ends else written
    bridge = renderer.bridge_to_next_turn(prompt, sampled, case["next"], tools=case["tools"])
    found: dict[str, Any] = {
        "content": parsed.content,
        "reasoning": parsed.reasoning_content or "",
        "calls": calls,
        "bridged": bridge is not None,
    }
    if bridge is not None:
        before = [*prompt, *sampled]
        found["kept"] = bridge.token_ids[: len(before)] == before
        rendered, _, found["ending"] = _rendered(tokenizer, case, parsed.content)
        found["text"] = tokenizer.decode(bridge.token_ids, skip_special_tokens=False)
        added = tokenizer.decode(bridge.token_ids[len(before) :], skip_special_tokens=False)
        found["as_rendered"] = rendered.endswith(added.rpartition(case["next"][-1]["content"])[0])
        lengths = {len(bridge.token_ids), len(bridge.message_indices)}
        found["attributed"] = len(lengths) == 1 and 0 in bridge.message_indices
    return found


def _rendered(tokenizer: Any, case: dict[str, Any], content: str) -> tuple[str, str, str]:
    """Return what the template itself says of the whole: up to the last message's text, and behind.

    That doesn't hang on the answer's words, and some templates refuse one that says nothing.
    """
    calls = _calls(case)
    answer = {"role": "assistant", "content": content or ("" if calls else "Yes."), **calls}
    asked = [{"role": "user", "content": "Hi"}, answer, *case["next"]]
    text: str = tokenizer.apply_chat_template(
        asked, tools=case["tools"], tokenize=False, add_generation_prompt=True
    )
    return text.rpartition(case["next"][-1]["content"])


def _calls(case: dict[str, Any]) -> dict[str, Any]:
    """Return the calls that the next messages answer, as a message has them."""
    calls = [
        {
            "id": message["tool_call_id"],
            "type": "function",
            "function": {"name": message["name"], "arguments": case["arguments"]},
        }
        for message in case["next"]
        if message["role"] == "tool"
    ]
    return {"tool_calls": calls} if calls else {}


def outcomes(given: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what comes of a format's cases."""
    config = CustomRendererConfig(import_path=given["path"], thinking_retention="all")
    tokenizer = tokenizer_for(given)
    renderer = load_custom_renderer(config.import_path)(tokenizer, custom_renderer_config(config))
    return [outcome(renderer, tokenizer, case) for case in given["cases"]]


if __name__ == "__main__":
    json.dump([outcomes(given) for given in json.load(sys.stdin)], sys.stdout)
