"""What the tests' fork server loads: what builds templates, with caches filled by one format."""

from __future__ import annotations

from tests.specs_for_tests import json_native_spec
from turnspec.pipeline.build import generate_files
from turnspec.pipeline.project import OutputPaths
from turnspec.rendering.environment import create_environment

create_environment().from_string("{{ messages[0] }}").render(messages=[""])
generate_files(json_native_spec(), OutputPaths.in_folder("loaded"))
