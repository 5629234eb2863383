"""Coverage-guided fuzzing of the generated parsers."""
