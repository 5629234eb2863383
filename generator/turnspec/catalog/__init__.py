"""Known formats: where their files are, and how they are found by what people have.

May import what the analysis may, the analysis, and `turnspec.pipeline.project` with its templates;
and `turnspec.verification.predicted`, for a template that seems to write a known format.
"""
