"""Postings kept in a file, for a process that answers one question and must not read all texts."""
