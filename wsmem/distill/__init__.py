"""Conversation into proposed operations: prompts, model clients, record and replay, rules.

| module | what it holds |
|---|---|
| `choosing` | which distiller a configuration means |
| `model` | a distiller that asks a model, live or recorded |
| `prompts` | prompts as versioned data; `prompting` loads and renders them |
| `conversation` | what of a request is shown to a model: bounded, without secrets |
| `client`, `retrying`, `endpoint`, `quirks` | one call of an OpenAI-compatible endpoint |
| `completion`, `failures` | what such a call gives, and every way it can fail |
| `prices` | what a call costs |
| `cassettes`, `recording`, `batch` | recorded completions: replayed, made, exchanged |
| `rules` | the built-in distiller that needs no model |
"""
