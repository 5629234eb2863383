"""Rendering without processes, which a browser has none of: its worker is the process.

The page ends that worker when it takes too long, and lets it have only so much memory. How much a
template may render is limited where it is rendered, as everywhere.
"""

from __future__ import annotations

from turnspec.rendering.worker import Answer, RenderWorker, TemplateRenderer


class InProcessWorker(RenderWorker):
    """Renders in the process that asks."""

    def __init__(self) -> None:
        """Have no template yet."""
        super().__init__()
        self._renderer = TemplateRenderer()

    @property
    def _is_ready(self) -> bool:
        return True

    def _request(self, message: tuple[str, object]) -> Answer:
        return self._renderer.answer(message)
