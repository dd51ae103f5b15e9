"""Signals, index, weight profiles, ranking and explaining; no files but profiles, no clock."""
