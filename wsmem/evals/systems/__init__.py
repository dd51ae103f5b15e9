"""Systems under test: one file per family, one protocol for all."""
