"""Trying templates of a checkout: building and verifying them, with nothing written."""

from __future__ import annotations

from collections.abc import Collection

from turnspec.pipeline.build import Build
from turnspec.pipeline.project import OutputPaths, Project
from turnspec.pipeline.regenerate import build_all
from turnspec.pipeline.template_sources import read_sources
from turnspec.rendering.limits import USUAL_LIMITS, Limits
from turnspec.sources.fetch import template_file
from turnspec.sources.index import read_index
from turnspec.spec.problems import Problem
from turnspec.verification.rungs import DEFAULT_MESSAGES


def try_templates(
    project: Project, names: Collection[str], limits: Limits = USUAL_LIMITS
) -> tuple[list[Build], list[Problem]]:
    """Build and verify templates that lie in the checkout; returns builds, and what went wrong."""
    index, problems = read_index(project.root)
    files = [template_file(project.root, entry) for entry in index.entries if entry.name in names]
    sources, unreadable = read_sources(project, files)
    paths = OutputPaths.in_project
    builds = list(build_all(sources, paths, messages=DEFAULT_MESSAGES, limits=limits))
    wrong = [problem for build in builds for problem in build.problems]
    return builds, [*problems, *unreadable, *wrong]
