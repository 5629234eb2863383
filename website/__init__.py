"""The site: gallery, docs and playground as static files. `make site` writes them.

`worker/` is the Python that runs in the browser, `playground/` what shows it; all else builds.
"""
