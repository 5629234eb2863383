"""What runs in the playground's worker, in Pyodide: the pipeline as it is, in one process."""
