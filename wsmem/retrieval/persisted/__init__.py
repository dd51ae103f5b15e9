"""Postings kept in a file, for a process that answers one question and must not read all texts.

The file holds what signals are computed from, never their values, so that it serves every profile
that weighs terms, and a new signal needs no new file unless it needs new facts.

| module | what it holds |
|---|---|
| `layout` | the file: its sections, and the checksums by which damage is noticed |
| `building` | a file from entries (NumPy) |
| `postings` | statistics of terms out of a file |
| `joined` | several sources searched as one |
| `contenders` | which entries may be among the best |
| `ranking` | one query over scopes with and without a file |
| `fingerprint` | which code made a file |
"""
