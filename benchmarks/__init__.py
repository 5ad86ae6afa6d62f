"""Measurements of ctok beside other tokenizers; see README.md."""
