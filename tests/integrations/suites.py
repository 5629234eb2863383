"""The suites of `make integrations`, by the names of their targets. A new one is a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tests.integrations.pair_suite import run_pair, run_pair_sglang, run_pair_vllm
from tests.integrations.renderers_suite import run_renderers
from tests.integrations.response_template_suite import run_response_template
from tests.integrations.sglang_suite import run_sglang
from tests.integrations.transcripts_check import check_transcripts
from tests.integrations.vllm_suite import run_vllm
from tests.integrations.xgrammar_suite import run_xgrammar
from turnspec.spec.integration_results import TargetRecord

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

#: What is checked beside the targets, and recorded nowhere: each returns what went wrong.
CHECKS: Mapping[str, Callable[[], Sequence[str]]] = {"transcripts": check_transcripts}
