"""turnspec's own engine of canitoolcall, with the checkout's formats for the suite's own cases.

Its own command can run it too, from the root of a checkout:

    canitoolcall run --engine tests.conformance.adapter:Turnspec --env PYTHONPATH=$PWD
"""

from __future__ import annotations

import importlib

from canitoolcall.adapters.base import Support

import turnspec.cases.canitoolcall as engine
from tests.conformance.formats import NOT_READ, READ_AS
from turnspec.codegen.format_module import FormatModule


class Turnspec(engine.Turnspec):
    """Reads a case by the format that is chosen for its model, with a reason."""

    pinned_version = "checkout"

    def format_of(self, model: str) -> str:
        """Return the format that is chosen for a model."""
        return READ_AS[model].format

    def module_of(self, model: str) -> FormatModule:
        """Return the checkout's parser."""
        return importlib.import_module("generated." + self.format_of(model).replace("-", "_"))

    def supports(self, family: str, model: str) -> Support:
        """Tell whether there is a format to read a model's cases by."""
        return Support(True) if model in READ_AS else Support(False, NOT_READ[model])


class TurnspecWithIncompleteCalls(Turnspec):
    """The same, with calls that were cut off or couldn't be read to their end."""

    with_incomplete_calls = True
