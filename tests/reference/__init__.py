"""Renderings of Hugging Face transformers, recorded, as an independent reference."""
