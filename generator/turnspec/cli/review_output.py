"""What `turnspec diff` prints, and `turnspec add --update`: changes of formats by meaning."""

from __future__ import annotations

from enum import StrEnum

from turnspec.cli.console import put, put_json, say
from turnspec.review.annotations import github_lines
from turnspec.review.compare import Review
from turnspec.review.rules import Severity
from turnspec.review.shown import changelog, json_data, markdown, text_lines


class ReviewForm(StrEnum):
    """The forms in which a review is printed."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"
    GITHUB = "github"
    CHANGELOG = "changelog"


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
            put_json(json_data(review), indent=2)
        case ReviewForm.GITHUB:
            for line in github_lines(review):
                say(line)
        case ReviewForm.MARKDOWN:
            put(markdown(review))
        case ReviewForm.CHANGELOG:
            put(changelog(review))
        case ReviewForm.TEXT:
            for text, kind in text_lines(review):
                say(text, _REVIEW_STYLES.get(kind, ""))
