"""Known formats: where their files are, and how they are found by what people have.

May import `turnspec.spec`, `turnspec.sources` and `turnspec.pipeline.project`.
"""
