"""The suites of `make integrations`, by the names of their targets. A new one is a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tests.integrations.llama_cpp_suite import run_llama_cpp
from tests.integrations.pair_suite import run_pair, run_pair_sglang, run_pair_vllm
from tests.integrations.renderers_suite import run_renderers
from tests.integrations.response_template_suite import run_response_template
from tests.integrations.served_model import check_served_model
from tests.integrations.servers_suite import run_sglang_parsers, run_vllm_parsers
from tests.integrations.sglang_suite import run_sglang
from tests.integrations.transcripts_check import check_transcripts
from tests.integrations.vllm_suite import run_vllm
from tests.integrations.xgrammar_suite import run_xgrammar
from turnspec.spec.integration_results import TargetRecord
from turnspec.spec.server_results import ServerRecord

#: Runs a suite for some formats, in its own environment.
Suite = Callable[[Sequence[str]], TargetRecord]

SUITES: Mapping[str, Suite] = {
    "pair": run_pair,
    "pair-sglang": run_pair_sglang,
    "pair-vllm": run_pair_vllm,
    "renderers": run_renderers,
    "response-template": run_response_template,
    "sglang": run_sglang,
    "vllm": run_vllm,
    "xgrammar": run_xgrammar,
}

#: Tries a server's own parsers on some formats.
ServerSuite = Callable[[Sequence[str]], ServerRecord]

SERVERS: Mapping[str, ServerSuite] = {
    "llama.cpp": run_llama_cpp,
    "sglang-parsers": run_sglang_parsers,
    "vllm-parsers": run_vllm_parsers,
}

#: What is checked beside the targets, and recorded nowhere: each returns what went wrong.
CHECKS: Mapping[str, Callable[[], Sequence[str]]] = {
    "served-model": check_served_model,
    "transcripts": check_transcripts,
}
