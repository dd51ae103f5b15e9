"""Durable, workspace-scoped memory for coding agents, and the harness that measures it."""
