"""How Sphinx builds the docs: Markdown as it stands in the repository, nothing from other hosts."""

import os

project = "turnspec"
author = "The turnspec authors"
release = version = os.environ["TURNSPEC_VERSION"]
html_title = f"turnspec {release}"
language = "en"
smartquotes = False
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
# What is in raw HTML is escaped by the build.
templates_path = ["_templates"]
html_static_path = ["_static"]
html_theme = "furo"
html_favicon = "icon.svg"
html_css_files = ["docs.css"]
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
pygments_style = "default"
pygments_dark_style = "github-dark"
highlight_language = "text"
# Lexers don't know all that examples show; their texts are tried by tests.
suppress_warnings = ["misc.highlighting_failure"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/places.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
