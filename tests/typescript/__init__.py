"""The TypeScript engine beside the Python engine."""
