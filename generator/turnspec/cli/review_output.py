"""What `turnspec diff` prints, and `turnspec add --update`: changes of formats by meaning."""

from __future__ import annotations

from enum import StrEnum

import click
from rich.markup import escape

from turnspec.cli.console import OUT, json_text
from turnspec.review.annotations import github_lines
from turnspec.review.compare import Review
from turnspec.review.rules import Severity
from turnspec.review.shown import json_data, markdown, text_lines


class ReviewForm(StrEnum):
    """The forms in which a review is printed."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"
    GITHUB = "github"


_REVIEW_STYLES = {
    Severity.COMPATIBLE: "bold green",
    Severity.LENIENT: "bold yellow",
    Severity.BREAKING: "bold red",
    "head": "cyan",
}


def print_review(review: Review, form: ReviewForm) -> None:
    """Print what changed between two sets of specs."""
    match form:
        case ReviewForm.JSON:
            click.echo(json_text(json_data(review), indent=2))
        case ReviewForm.GITHUB:
            for line in github_lines(review):
                click.echo(line)
        case ReviewForm.MARKDOWN:
            click.echo(markdown(review), nl=False)
        case ReviewForm.TEXT:
            for text, kind in text_lines(review):
                style = _REVIEW_STYLES.get(kind)
                OUT.print(escape(text), style=style, highlight=False, soft_wrap=True)
