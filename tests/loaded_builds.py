"""What the tests' fork server loads: what builds templates, with caches filled by two formats."""

from __future__ import annotations

from contextlib import suppress

from tests.golden_specs import TWO, golden_spec
from turnspec.codegen.loading import load
from turnspec.pipeline.build import generate_files
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.environment import create_environment

create_environment().from_string("{{ messages[0] }}").render(messages=[""])
with suppress(Exception):  # what is wrong with them is told by tests; the server goes on
    for name in TWO:
        spec = golden_spec(name)
        assert spec is not None
        generate_files(spec, OutputPaths.in_project(name))
        load(spec)
