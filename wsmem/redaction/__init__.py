"""Credential shapes: detect and redact."""
