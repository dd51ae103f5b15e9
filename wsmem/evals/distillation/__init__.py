"""Judging distillers: labelled conversations, what was said about them, and how right it was."""
