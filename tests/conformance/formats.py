"""By which format the cases of a model are read, and why; no case is read by a guess."""

from __future__ import annotations

from typing import NamedTuple


class Reading(NamedTuple):
    """The format by which a model's cases are read, and why that one."""

    format: str
    reason: str


_OWN = "a template of this model"
_SAME = "the template whose SHA-256 the cases name"

#: By the model that a case refers to first.
READ_AS: dict[str, Reading] = {
    "Qwen/Qwen3-0.6B": Reading("qwen-qwen3-0-6b", _OWN),
    "Qwen/Qwen3-4B-Instruct-2507": Reading("qwen-qwen3-instruct-2507", _OWN),
    "Qwen/Qwen3-4B-Thinking-2507": Reading("qwen-qwen3-thinking-2507", _OWN),
    "Qwen/Qwen3-Coder-30B-A3B-Instruct": Reading("qwen3-coder", _OWN),
    "Qwen/Qwen3-Coder-Next": Reading("qwen3-coder", "the turns of Qwen3-Coder"),
    "Qwen/Qwen3.5-9B": Reading("qwen3-5-4b", _SAME),
    "Qwen/Qwen3.8-27B": Reading("qwen-qwen3-8", _OWN),
    "deepseek-ai/DeepSeek-V3-0324": Reading("deepseek-ai-deepseek-v3", "the turns of V3"),
    "deepseek-ai/DeepSeek-V3.1": Reading("deepseek-ai-deepseek-v3-1", _OWN),
    "deepseek-ai/DeepSeek-V3.2": Reading("deepseek-ai-deepseek-v3-2", _OWN),
    "deepseek-ai/DeepSeek-V4-Flash": Reading("deepseek-ai-deepseek-v4", "the turns of V4"),
    "google/gemma-4-31B-it": Reading("google-gemma-4-31b-it", _OWN),
    "meta-llama/Llama-3.3-70B-Instruct": Reading("meta-llama-llama-3-3-70b-instruct", _SAME),
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": Reading(
        "meta-llama-llama-4-pythonic", "a template of this model, with calls of Python"
    ),
    "mistralai/Devstral-Small-2507": Reading("unsloth-mistral-devstral-small-2507", _OWN),
    "mistralai/Magistral-Small-2506": Reading(
        "mistralai-ministral-3-14b-reasoning-2512",
        "the turns of Ministral 3 Reasoning; its own reasoning markers are others",
    ),
    "mistralai/Magistral-Small-2509": Reading(
        "mistralai-ministral-3-14b-reasoning-2512", "the turns of Ministral 3 Reasoning"
    ),
    "mistralai/Ministral-3-14B-Instruct-2512": Reading(
        "mistralai-ministral-3-14b-reasoning-2512",
        "the turns of Ministral 3 Reasoning without reasoning",
    ),
    "mistralai/Ministral-3-14B-Reasoning-2512": Reading(
        "mistralai-ministral-3-14b-reasoning-2512", _OWN
    ),
    "mistralai/Mistral-7B-Instruct-v0.3": Reading("mistralai-mistral-7b-instruct-v0-3", _OWN),
    "mistralai/Mistral-Small-3.2-24B-Instruct-2506": Reading(
        "mistral-small-3-2-24b-instruct-2506", _OWN
    ),
    "moonshotai/Kimi-K2-Instruct-0905": Reading("kimi-k2-instruct", _OWN),
    "moonshotai/Kimi-K2.6": Reading(
        "kimi-k2-thinking", "the turns of K2 Thinking; the prompt opens the reasoning"
    ),
    "moonshotai/Kimi-K3": Reading("kimi-k3", _OWN),
    "openai/gpt-oss-20b": Reading("openai-gpt-oss-120b", _SAME),
    "zai-org/GLM-4.5": Reading("zai-org-glm-4-5", _OWN),
    "zai-org/GLM-4.7": Reading("glm-4-7-flash", _SAME),
    "zai-org/GLM-5.3": Reading("zai-org-glm-5-3", _OWN),
}

#: Models whose formats no template here has.
NOT_READ: dict[str, str] = {
    "deepseek-ai/DeepSeek-V4.1-Flash": "its calls stand between other markers than those of V4",
}
