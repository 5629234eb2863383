"""Names as people have them, and the formats that they mean: a rule over words, no model's name."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from turnspec.catalog.catalog import Catalog
from turnspec.catalog.finding import readable_names
from turnspec.catalog.names import Closeness, ModelName, match_names, suggested

CATALOG = Catalog.around(ROOT)
KNOWN = readable_names(CATALOG)


@pytest.mark.parametrize(
    ("name", "words", "sizes"),
    [
        ("Qwen3-Coder-30B-A3B-Instruct", ("qwen", "3", "coder", "instruct"), ("30b", "a3b")),
        ("Qwen-Qwen3-0.6B", ("qwen", "3"), ("0.6b",)),
        ("Llama-3.1_8x7B (GGUF)", ("llama", "3.1"), ("8x7b", "gguf")),
        ("gemma-3n-E4B-it", ("gemma", "3", "n", "it"), ("e4b",)),
        ("...", (), ()),
        ("模型", (), ()),
    ],
)
def test_the_words_of_a_name(name: str, words: tuple[str, ...], sizes: tuple[str, ...]) -> None:
    assert ModelName.read(name) == ModelName(words, sizes)


#: What people have, and the one format that it means.
MEANT = {
    # as a hub writes it, whatever the size, the owner, or what was made of the model
    "Qwen/Qwen3-Coder-30B-A3B-Instruct": "qwen3-coder",
    "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8": "qwen3-coder",
    "Qwen/Qwen3-8B": "qwen-qwen3-0-6b",
    "Qwen/Qwen3-32B-AWQ": "qwen-qwen3-0-6b",
    "Qwen/Qwen3-8B-GPTQ-Int4": "qwen-qwen3-0-6b",
    "Qwen/Qwen2.5-7B-Instruct-1M": "qwen-qwen2-5-7b-instruct",
    "Qwen/QwQ-32B": "qwen-qwq-32b",
    "openai/gpt-oss-20b": "openai-gpt-oss-120b",
    "unsloth/gpt-oss-20b-GGUF": "openai-gpt-oss-120b",
    "unsloth/gpt-oss-20b-GGUF:F16": "openai-gpt-oss-120b",
    "bartowski/Qwen_Qwen3-8B-Q4_K_M": "qwen-qwen3-0-6b",
    "unsloth/Qwen3-8B-UD-Q4_K_XL": "qwen-qwen3-0-6b",
    "Qwen3-8B-Q8_0": "qwen-qwen3-0-6b",
    "Qwen3-8B-IQ4_XS": "qwen-qwen3-0-6b",
    "bartowski/openai_gpt-oss-20b-GGUF": "openai-gpt-oss-120b",
    "meta-llama/Llama-3.3-70B-Instruct": "meta-llama-llama-3-3-70b-instruct",
    "meta-llama/Meta-Llama-3.1-8B-Instruct": "meta-llama-llama-3-1-8b-instruct",
    "deepseek-ai/DeepSeek-R1": "llama-cpp-deepseek-r1",
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B": "deepseek-ai-deepseek-r1-distill-qwen-32b",
    "NousResearch/Hermes-3-Llama-3.1-8B": "nousresearch-hermes-3-llama-3-1-8b-tool-use",
    "CohereForAI/c4ai-command-r7b-12-2024": "cohereforai-c4ai-command-r7b-12-2024-tool-use",
    "nvidia/NVIDIA-Nemotron-Nano-9B-v2": "nvidia-nemotron-nano-v2",
    "mistralai/Devstral-Small-2507": "unsloth-mistral-devstral-small-2507",
    "google/gemma-4-27b-it": "google-gemma-4-31b-it",
    "zai-org/GLM-4.6-FP8": "glm-4-6",
    "google/gemma-3-27b-it": "google-gemma-3-it",
    "deepseek-ai/DeepSeek-V3": "deepseek-ai-deepseek-v3",
    # as people say it
    "gptoss": "openai-gpt-oss-120b",
    "gpt-oss": "openai-gpt-oss-120b",
    "qwen3": "qwen-qwen3-0-6b",
    "qwen3-8": "qwen-qwen3-8",  # as files write 3.8
    "kimi k2": "moonshotai-kimi-k2",
    "SmolLM3": "huggingfacetb-smollm3-3b",
    "mistral-nemo": "mistralai-mistral-nemo-instruct-2407",
    # by an alias, where the template's own name says something else
    "stepfun-ai/Step-3.5-Flash": "stepfun3-5-flash",
    "command-r-plus": "cohereforai-c4ai-command-r-plus-tool-use",
}


@pytest.mark.parametrize("asked", MEANT)
def test_a_name_that_means_one(asked: str) -> None:
    (match,) = match_names(asked, KNOWN)
    assert (match.name, match.closeness is Closeness.EARLIER) == (MEANT[asked], False)


#: What leaves open which one is meant.
SEVERAL = {
    "llama3": ["meta-llama-llama-3-1-8b-instruct", "meta-llama-llama-3-2-3b-instruct"],
    "deepseek": ["deepseek-ai-deepseek-v4", "llama-cpp-deepseek-r1"],
    "glm": ["glm-4-6", "glm-4-7-flash"],
    "command-r": ["cohereforai-c4ai-command-r-plus-tool-use"],
    "gemma": ["google-gemma-2-2b-it", "google-gemma-4-31b-it"],
}


@pytest.mark.parametrize("asked", SEVERAL)
def test_a_name_that_may_mean_several(asked: str) -> None:
    found = [match.name for match in match_names(asked, KNOWN)]
    assert len(found) > 1
    assert set(SEVERAL[asked]) <= set(found)


def test_a_version_that_goes_on_is_no_match() -> None:
    matches = match_names("phi-3", KNOWN)
    assert {match.closeness for match in matches} == {Closeness.EARLIER}
    assert match_names("Qwen/Qwen3.5-4B", [("qwen3", "Qwen3-8B")]) == []
    assert match_names("GLM-4", [("glm-45", "GLM-45")]) == []


#: What nothing goes by, and the first format that is suggested.
SUGGESTED = {
    "qwen3-codr": "qwen3-coder",
    "qwen-coder": "qwen3-coder",
    "lama-3.1-8b-instruct": "meta-llama-llama-3-1-8b-instruct",
    "apertos": "apertus-8b-instruct",
    "gptos": "openai-gpt-oss-120b",
    # a word that no name has may tell another format, and so may a number or a date
    "Qwen/Qwen2.5-Coder-7B-Instruct": "qwen3-coder",
    "Qwen/Qwen3-Next-80B-A3B-Instruct": "qwen-qwen3-coder-next",
    "Qwen/Qwen3-Embedding-8B": "qwen-qwen3-0-6b",
    "openai/gpt-oss-safeguard-20b": "openai-gpt-oss-120b",
    "microsoft/Phi-4-reasoning": "microsoft-phi-4",
    "deepseek-ai/DeepSeek-V3.1-Terminus": "deepseek-ai-deepseek-v3-1",
    "moonshotai/Kimi-K2-Instruct-0905": "kimi-k2-instruct",
    "baidu/ERNIE-4.5-21B-A3B-Thinking": "baidu-ernie-4-5",
    # a word that some name has is no slip of the pen: llama isn't llava, mistral no ministral
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": "meta-llama-llama-4-pythonic",
    "mistralai/Mistral-7B-Instruct-v0.2": "mistralai-mistral-7b-instruct-v0-1",
}


@pytest.mark.parametrize("asked", SUGGESTED)
def test_what_a_person_may_have_meant(asked: str) -> None:
    assert match_names(asked, KNOWN) == []
    assert suggested(asked, KNOWN)[0] == SUGGESTED[asked]
    assert len(suggested(asked, KNOWN)) <= 4


def test_who_shares_but_a_maker_is_not_suggested() -> None:
    asked = suggested("meta-llama/Llama-4-Scout-17B-16E-Instruct", KNOWN)
    assert {*asked} >= {"meta-llama-llama-4-json", "meta-llama-llama-4-pythonic"}
    assert not [name for name in asked if "deepseek" in name or "rwkv" in name]
    assert "qwen-qwen2-5-7b-instruct" in suggested("Qwen/Qwen2.5-Coder-7B-Instruct", KNOWN)


@pytest.mark.parametrize("asked", ["", "3b", "!", "xyz", "instruct", "nope", "it", "x/y/z"])
def test_what_nobody_could_have_meant(asked: str) -> None:
    assert match_names(asked, KNOWN) == []
    assert suggested(asked, KNOWN) == []


def test_the_size_decides_where_nothing_else_does() -> None:
    names = [("a", "Mine-8B"), ("b", "Mine-70B")]
    assert [match.name for match in match_names("someone/Mine-70B", names)] == ["b"]
    assert [match.name for match in match_names("Mine-3B", names)] == ["a", "b"]


def test_every_template_is_found_by_its_own_name() -> None:
    for name, shown in KNOWN:
        assert name in [match.name for match in match_names(shown, KNOWN)]


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("trl-Qwen3-training", "trl-qwen3-training"),
        ("unsloth Qwen3", "unsloth-qwen3"),
        ("Qwen3", "qwen-qwen3-0-6b"),
        ("unsloth/Qwen3-8B-GGUF", "qwen-qwen3-0-6b"),
    ],
)
def test_a_packagers_variant_is_meant_by_a_name_that_says_so(asked: str, name: str) -> None:
    assert [match.name for match in match_names(asked, readable_names(CATALOG, asked))] == [name]
